/** One request over a connection, for people who set it up: the same guard, headers and sign-in as in a flow. */
import { PinError } from '../blocks/block.ts'
import { sendOver } from '../blocks/http/connection-request.ts'
import { sharedAgent } from '../blocks/http/guarded-agent.ts'
import type { TriedConnection } from '../shared/api/operate/connections.ts'
import { QuoinError } from '../shared/errors.ts'
import { openConnection, secretNamed } from './compile/named-getter.ts'
import type { RunEnvironment } from './run/run-environment.ts'

type Environment = Pick<RunEnvironment, 'connections' | 'secrets' | 'allowedHosts' | 'clock'>

/** Of the reply only the status is read. */
const TIMEOUT_SECONDS = 10
/** In the audit log, in place of a block. */
const TRY = 'try'

/** `path`: below the base address. Never throws for what the other server or the record of the connection is to blame for. */
export async function tryConnection(
  environment: Environment,
  name: string,
  path: string,
  signal: AbortSignal,
): Promise<TriedConnection> {
  const { clock, secrets } = environment
  const began = clock()
  try {
    const found = environment.connections(name)
    if (!found) throw new PinError('connection', `names ${name}, which is not there`)
    const opened = openConnection(found, (secret) =>
      secretNamed(secrets, { name: secret, blueprint: '', block: TRY }, 'connection'),
    )
    const agent = await sharedAgent(environment.allowedHosts())
    const { code } = await sendOver(opened, path, agent, { timeout: TIMEOUT_SECONDS, signal, now: clock })
    return { ok: code >= 200 && code <= 299, status: code, milliseconds: Math.max(0, clock() - began) }
  } catch (error) {
    if (error instanceof PinError) return { ok: false, problem: `The ${error.pin} ${error.message}.` }
    if (error instanceof QuoinError && error.code !== 'INVALID_BODY')
      return { ok: false, problem: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` }
    throw error
  }
}
