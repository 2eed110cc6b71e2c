import type { IncomingMessage } from 'node:http'
import type { onRequestHookHandler } from 'fastify'
import ipaddr from 'ipaddr.js'
import { countedAddress } from '../../shared/counted-address.ts'
import type { HttpSettings } from '../server/http-settings.ts'

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** The names that `trustProxy` takes for networks, and what they are called in the library. */
const NAMED = new Map([
  ['loopback', ['loopback']],
  ['linklocal', ['linkLocal']],
  ['uniquelocal', ['uniqueLocal', 'private']],
])

/**
 * Whether an address stands for many clients: this machine, where proxies and tunnels run, and the proxies that are
 * trusted. What is limited for one client is not limited for these.
 */
export function standsForMany(trustProxy: HttpSettings['trustProxy']): (address: string) => boolean {
  const isTrusted = trustedBy(trustProxy)
  return (text) => isLoopback(countedAddress(text)) || isTrusted(text)
}

/**
 * Who asks, as limits count clients, for what looks at a request before the framework: its address is that of `request.ip`. Undefined where
 * it stands for many.
 */
export function countedClient(
  trustProxy: HttpSettings['trustProxy'],
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | undefined {
  const isTrusted = trustedBy(trustProxy)
  const isMany = standsForMany(trustProxy)
  return ({ headers, socket }) => {
    let address = socket.remoteAddress ?? ''
    const input = headers['x-forwarded-for']
    const forwarded = typeof input === 'string' ? withoutPorts(input).split(', ').reverse() : []
    for (const before of forwarded) {
      if (!isTrusted(address)) break
      if (before !== '') address = before
    }
    return isMany(address) ? undefined : countedAddress(address)
  }
}

function trustedBy(trustProxy: HttpSettings['trustProxy']): (address: string) => boolean {
  if (trustProxy === true) return () => true
  const entries = trustProxy === false ? [] : trustProxy
  const ranges = new Set(entries.flatMap((entry) => NAMED.get(entry) ?? []))
  const networks = entries.flatMap((entry) => networkOf(entry) ?? [])
  return (text) => {
    if (entries.length === 0 || !ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return (
      ranges.has(address.range()) ||
      networks.some(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits))
    )
  }
}

function networkOf(entry: string) {
  if (ipaddr.isValidCIDR(entry)) {
    const [network, bits] = ipaddr.parseCIDR(entry)
    return { network, bits }
  }
  if (!ipaddr.isValid(entry)) return undefined
  const network = ipaddr.process(entry)
  return { network, bits: network.kind() === 'ipv4' ? 32 : 128 }
}

const WITH_PORT = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i

/**
 * Takes the ports out of `x-forwarded-for`, as some gateways write them (`1.2.3.4:5555`, `[2001:db8::1]:443`). With its
 * port each connection would be an address of its own, for the rate limit and for failed sign-ins.
 */
export const plainForwardedAddresses: onRequestHookHandler = ({ raw: { headers } }, _reply, done) => {
  const input = headers['x-forwarded-for']
  if (typeof input === 'string' && input.includes(':')) headers['x-forwarded-for'] = withoutPorts(input)
  done()
}

function withoutPorts(list: string): string {
  return list
    .split(',')
    .map((entry) => {
      const [whole, six, four] = WITH_PORT.exec(entry.trim()) ?? [entry.trim()]
      return six ?? four ?? whole
    })
    .join(', ')
}
