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
