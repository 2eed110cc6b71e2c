import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import { PinError } from '../block.ts'
import { destinationGuard } from './allowed-hosts.ts'

/** Resolves a name to all of its addresses; the machine's own resolver in life. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

const resolveAll: Resolve = (hostname, done) => lookup(hostname, { all: true }, done)

const defaultPort: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Milliseconds until a connection stands. */
const CONNECT_TIMEOUT = 10_000
/** Connections to one origin. Further requests wait their turn. */
const CONNECTIONS = 64

/**
 * An HTTP client that connects only where `allowedHosts` lets it. The check stands between the resolver and the socket:
 * the addresses that were checked are those that are connected to, so a name cannot point elsewhere in between. A name of
 * which any address is closed is refused. Refusals are PinError('url', …).
 *
 * The library is loaded with the first client: it takes 130 ms and 24 MB, which a cluster without such requests does not pay.
 */
export async function guardedAgent(
  allowedHosts: readonly string[],
  resolve: Resolve = resolveAll,
): Promise<Agent> {
  const { Agent, buildConnector } = await import('undici')
  const isOpen = destinationGuard(allowedHosts)
  return new Agent({
    connections: CONNECTIONS,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    connect(options, callback) {
      const { hostname } = options
      const port = options.port || (defaultPort[options.protocol] ?? '')
      // The socket asks no resolver for an address, so it is checked here.
      if (isIP(hostname) !== 0 && !isOpen({ hostname, port, address: hostname }))
        return callback(closed(), null)
      const guarded = guardedLookup(resolve, (address) => isOpen({ hostname, port, address }))
      buildConnector({ lookup: guarded, timeout: CONNECT_TIMEOUT, allowH2: false })(options, callback)
    },
  })
}

function guardedLookup(resolve: Resolve, isOpen: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address.`), '', 0)
      if (!addresses.every(({ address }) => isOpen(address))) return callback(closed(), '', 0)
      if (options.all) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }
}

function closed(): PinError {
  const mend = 'unless the cluster allows that host: QUOIN_ALLOWED_HOSTS, under Operate → Settings'
  return new PinError('url', `must not lead to a private address, ${mend}`)
}

/**
 * One client for each list of allowed hosts, so that connections are used again. Idle ones close after four seconds and
 * keep no process alive; a client goes when its list does.
 */
const agents = new WeakMap<readonly string[], Promise<Agent>>()

/** Allowed hosts whose calls all go through this client: the one that it gives then. */
export function callingThrough(client: () => Agent): () => readonly string[] {
  let through: Agent | undefined
  let every: readonly string[] = ['*']
  return () => {
    const agent = client()
    if (agent === through) return every
    through = agent
    every = ['*']
    agents.set(every, Promise.resolve(agent))
    return every
  }
}

/** Allowed hosts by which no server is called, the public ones neither. */
export function callingNone(): () => readonly string[] {
  const none: readonly string[] = []
  return () => {
    if (!agents.has(none)) agents.set(none, closedAgent())
    return none
  }
}

async function closedAgent(): Promise<Agent> {
  const { Agent } = await import('undici')
  const refused = new PinError('url', 'must not be called: this preview reaches no other servers')
  return new Agent({ connect: (_options, callback) => callback(refused, null) })
}

export function sharedAgent(allowedHosts: readonly string[]): Promise<Agent> {
  const known = agents.get(allowedHosts)
  if (known) return known
  const agent = guardedAgent(allowedHosts)
  agents.set(allowedHosts, agent)
  return agent
}
