import { PinError } from '../../blocks/block.ts'
import { HttpConnection, type OpenedConnection, type SignIn } from '../../blocks/http-connection.ts'
import { Secret } from '../../blocks/secret.ts'
import type { NamedType } from '../../shared/pin-type.ts'
import type { Node } from './blueprint-graph.ts'
import { drawnBlock } from './expand-resources.ts'
import type { Frame, NamedConnection, RunSecrets, SecretUse } from './frame.ts'

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
