import type { Connections } from '../../records/connections/connections.ts'
import type { Secrets } from '../../records/secrets/secrets.ts'
import type { LiveTable } from './live-blueprints.ts'

type User = { readonly guid: string; readonly name: string }

/** The active blueprints with a block that names a secret, by the name of the secret. */
export function usersOfSecrets({ blueprints }: LiveTable): ReadonlyMap<string, readonly User[]> {
  const users = new Map<string, Map<string, User>>()
  for (const [guid, { compiled, name }] of blueprints)
    for (const secret of compiled.secrets) {
      const known = users.get(secret) ?? new Map<string, User>()
      users.set(secret, known.set(guid, { guid, name }))
    }
  return new Map([...users].map(([secret, found]) => [secret, [...found.values()]]))
}

/** The connections that send a secret, by its name. */
export function sendersOfSecrets({
  names,
  find,
}: Pick<Connections, 'names' | 'find'>): ReadonlyMap<string, readonly string[]> {
  const senders = new Map<string, string[]>()
  for (const name of [...names()].sort()) {
    const { auth } = find(name) ?? {}
    if (!auth || auth.kind === 'none') continue
    const known = senders.get(auth.secret) ?? []
    known.push(name)
    senders.set(auth.secret, known)
  }
  return senders
}

/** What an operator should know at the start, in one line: secrets that are sent and have no list of hosts. */
export function anywhereProblem(
  secrets: Pick<Secrets, 'goesAnywhere'>,
  connections: Pick<Connections, 'names' | 'find'>,
): string | undefined {
  const names = [...sendersOfSecrets(connections).keys()].filter((name) => secrets.goesAnywhere(name)).sort()
  if (names.length === 0) return undefined
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return `Secrets without a list of hosts, which connections may send to any server: ${names.slice(0, 5).join(', ')}${more}. Name their hosts: quoin secret set <name> --host <host>`
}
