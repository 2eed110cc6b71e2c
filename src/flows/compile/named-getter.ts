import { PinError } from '../../blocks/block.ts'
import { HttpConnection, type OpenedConnection, type SignIn } from '../../blocks/http-connection.ts'
import { Secret } from '../../blocks/secret.ts'
import type { NamedType } from '../../shared/pin-type.ts'
import type { Node } from './blueprint-graph.ts'
import { drawnBlock } from './expand-resources.ts'
import type { Frame, NamedConnection } from './frame.ts'

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
  const secretNamed = (secret: string, { run }: Frame) =>
    new Secret(secret, (noted) => {
      const { secrets } = run.environment
      const opened = secrets.open(secret)
      if ('problem' in opened) throw new PinError(pin, opened.problem)
      if (noted) secrets.used({ name: secret, blueprint: run.blueprint, block })
      return opened.value
    })
  if (type === 'secret') return (frame) => secretNamed(name, frame)
  return (frame) =>
    new HttpConnection(name, () => {
      const found = frame.run.environment.connections(name)
      if (!found) throw new PinError(pin, `names the connection ${name}, which is not there`)
      return openConnection(found, (secret) => secretNamed(secret, frame))
    })
}

/** `secretNamed`: the secret is decrypted only when a request is signed in. */
export function openConnection(
  found: NamedConnection,
  secretNamed: (name: string) => Secret,
): OpenedConnection {
  const { baseUrl, headers } = found
  return { baseUrl, headers, signIn: signInOf(found, secretNamed), identity: found }
}

function signInOf({ auth }: NamedConnection, secretNamed: (name: string) => Secret): SignIn {
  switch (auth.kind) {
    case 'none':
      return auth
    case 'oauth2': {
      const { token_url: tokenUrl, client_id: clientId, scope = '' } = auth
      return { kind: 'oauth2', tokenUrl, clientId, scope, secret: secretNamed(auth.secret) }
    }
    default:
      return { ...auth, secret: secretNamed(auth.secret) }
  }
}
