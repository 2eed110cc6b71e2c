import { PinError } from '../../blocks/block.ts'
import { HttpConnection, type OpenedConnection, type SignIn } from '../../blocks/http-connection.ts'
import { Secret } from '../../blocks/secret.ts'
import { didYouMean } from '../../expressions/language/new-text.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import type { NamedType } from '../../shared/pin-type.ts'
import type { Graph, Node } from './blueprint-graph.ts'
import { drawnBlock } from './expand-resources.ts'
import type { Frame, NamedConnection, RunSecrets, SecretUse } from './frame.ts'
import { bounded, type DeployNote } from './notes/deploy-note.ts'

type Getter = (frame: Frame) => Secret | HttpConnection

/** What reads such a pin. A secret is decrypted only when the block asks for it. */
export function namedGetter(
  node: Node,
  pin: string,
  type: NamedType,
  name: unknown,
): Getter | { constant: undefined } {
  if (typeof name !== 'string') return { constant: undefined }
  const block = drawnBlock(node.block.guid)
  const secretOf = (secret: string, { run }: Frame) =>
    secretNamed(run.environment.secrets, { name: secret, blueprint: run.blueprint, block }, pin)
  if (type === 'secret') return (frame) => secretOf(name, frame)
  return (frame) =>
    new HttpConnection(name, () => {
      const found = frame.run.environment.connections(name)
      if (!found) throw new PinError(pin, `names the connection ${name}, which is not there`)
      return openConnection(found, (secret) => secretOf(secret, frame))
    })
}

/** Throws PinError of this pin when it cannot be revealed. */
export function secretNamed(secrets: RunSecrets, use: SecretUse, pin: string): Secret {
  return new Secret(use.name, (purpose) => {
    const opened = secrets.open(use.name, purpose instanceof URL ? purpose : undefined)
    if ('problem' in opened) throw new PinError(pin, opened.problem)
    if (purpose !== 'hide') secrets.used(use)
    return opened.value
  })
}

/** `secretOf`: the secret is decrypted only when a request is signed in. */
export function openConnection(found: NamedConnection, secretOf: (name: string) => Secret): OpenedConnection {
  const { baseUrl, headers } = found
  return { baseUrl, headers, signIn: signInOf(found, secretOf), identity: found }
}

function signInOf({ auth }: NamedConnection, secretOf: (name: string) => Secret): SignIn {
  switch (auth.kind) {
    case 'none':
      return auth
    case 'oauth2': {
      const { token_url: tokenUrl, client_id: clientId, scope = '' } = auth
      return { kind: 'oauth2', tokenUrl, clientId, scope, secret: secretOf(auth.secret) }
    }
    default:
      return { ...auth, secret: secretOf(auth.secret) }
  }
}

interface Named {
  readonly block: string
  readonly pin: string
  readonly name: string
}

const nouns = { secret: 'secret', http_connection: 'connection' } as const

/** The records of a kind that blocks name, sorted. */
export function namesOf(graph: Graph, type: NamedType): readonly string[] {
  return [...new Set(namedIn(graph, type).map(({ name }) => name))].sort()
}

/** A warning for each record that a block names and that is not there, once. It may be set after the deploy. */
export function missingNotes(
  graph: Graph,
  type: NamedType,
  present: readonly string[] | undefined,
): readonly DeployNote[] {
  if (present === undefined) return []
  const missing = new Map<string, Named>()
  for (const one of namedIn(graph, type))
    if (!present.includes(one.name) && !missing.has(one.name)) missing.set(one.name, one)
  const notes = [...missing.values()].map(({ block, pin, name }): DeployNote => {
    const advice = didYouMean(nearestName(name, present))
    const message = `There is no ${nouns[type]} ${name}: the block fails until it is set.${advice}`
    return { block, pin, message, level: 'warn', once: name }
  })
  return bounded(notes, `${nouns[type]}s that are not set`)
}

function namedIn({ nodes }: Graph, requested: NamedType): Named[] {
  return nodes.flatMap((node) =>
    [...node.in].flatMap(([pin, { type }]) => {
      const name = type === requested ? node.literals.get(pin) : undefined
      return typeof name === 'string' ? [{ block: node.block.guid, pin, name }] : []
    }),
  )
}
