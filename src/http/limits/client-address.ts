import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import type { onRequestHookHandler } from 'fastify'
import { countedAddress } from '../../shared/counted-address.ts'
import type { HttpSettings } from '../server/http-settings.ts'

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

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
 * it stands for many. Takes ports out of the request's header, as `plainForwardedAddresses` does.
 */
export function countedClient(
  trustProxy: HttpSettings['trustProxy'],
): (request: IncomingMessage) => string | undefined {
  const isTrusted = trustedBy(trustProxy)
  const isMany = standsForMany(trustProxy)
  return (request) => {
    removePorts(request)
    // Of a connection that is gone there is none, whatever the library's types say.
    const address = proxyAddress(request, isTrusted) ?? ''
    return isMany(address) ? undefined : countedAddress(address)
  }
}

/** By the library that the framework asks. An address that it cannot read ends the start. */
function trustedBy(trustProxy: HttpSettings['trustProxy']): (address: string) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy
  const isTrusted = proxyAddress.compile([...trustProxy])
  return (address) => isTrusted(address, 0)
}

const WITH_PORT = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i

/**
 * Takes the ports out of `x-forwarded-for`, as some gateways write them (`1.2.3.4:5555`, `[2001:db8::1]:443`). With its
 * port each connection would be an address of its own, for the rate limit and for failed sign-ins.
 */
export const plainForwardedAddresses: onRequestHookHandler = ({ raw }, _reply, done) => {
  removePorts(raw)
  done()
}

function removePorts({ headers }: IncomingMessage): void {
  const input = headers['x-forwarded-for']
  if (typeof input !== 'string' || !input.includes(':')) return
  const addresses = input.split(',').map((entry) => {
    const [whole, six, four] = WITH_PORT.exec(entry.trim()) ?? [entry.trim()]
    return six ?? four ?? whole
  })
  headers['x-forwarded-for'] = addresses.join(', ')
}
