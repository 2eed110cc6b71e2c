/**
 * Which addresses a flow may reach. Public ones are open; everything else (this machine, the network it stands in, the
 * cloud's metadata service) is closed unless an entry of the cluster's list opens it, because the address may have come
 * from the client.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>

type Rule = { readonly port: string | undefined } & (
  | { readonly host: string }
  | { readonly network: Address; readonly bits: number }
)

/** Where a connection would go. `port` as text; `address` as the name resolved, or as it was written. */
export interface Destination {
  readonly hostname: string
  readonly port: string
  readonly address: string
}

/**
 * Whether a destination is open. Entries of the list are a host name, an address or a network (`10.0.0.0/8`), the first
 * two with or without a port (`db.internal:8080`, `[::1]:80`). Entries that make no sense open nothing.
 */
export function destinationGuard(entries: readonly string[]): (destination: Destination) => boolean {
  const rules = entries.map(ruleOf).filter((rule) => rule !== undefined)
  return ({ hostname, port, address: text }) => {
    const address = addressOf(text)
    if (!address) return false
    if (isPublic(address)) return true
    const name = plainName(hostname)
    return rules.some((rule) => {
      if (rule.port !== undefined && rule.port !== port) return false
      return 'host' in rule ? rule.host === name : contains(rule.network, rule.bits, address)
    })
  }
}

/** What is wrong with an entry of the list, in words that finish the sentence "the allowed host …", or undefined. */
export function allowedHostProblem(entry: string): string | undefined {
  return ruleOf(entry)
    ? undefined
    : 'must be a host name, an address or a network, such as db.internal:8080 or 10.0.0.0/8'
}

const ENTRY = /^(?:\[(?<six>[0-9a-f:.]+)\]|(?<host>[a-z0-9._-]+))(?::(?<port>\d{1,5}))?$/

function ruleOf(entry: string): Rule | undefined {
  const text = entry.trim().toLowerCase()
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) return undefined
    const [network, bits] = ipaddr.parseCIDR(text)
    return { network, bits, port: undefined }
  }
  if (isIP(text) !== 0) return addressRule(text, undefined)
  const { six, host, port } = ENTRY.exec(text)?.groups ?? {}
  if (six !== undefined) return addressRule(six, port)
  if (host === undefined) return undefined
  return isIP(host) === 0 ? { host: plainName(host), port } : addressRule(host, port)
}

function addressRule(text: string, port: string | undefined): Rule | undefined {
  const network = addressOf(text)
  return network && { network, bits: network.kind() === 'ipv4' ? 32 : 128, port }
}

/**
 * `::ffff:1.2.3.4` is the IPv4 address. Not so `::1.2.3.4`, an old form that the library takes for the same while it is
 * written with dots: so IPv6 is read as a URL writes it, without any.
 */
function addressOf(text: string): Address | undefined {
  const kind = isIP(text)
  if (kind === 0) return undefined
  const written = kind === 6 ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : text
  return ipaddr.process(written ?? text)
}

/** What IANA gives out of IPv6. Beside it lie old ways to write IPv4, such as ::127.0.0.1, that no range names. */
const GLOBAL = ipaddr.parseCIDR('2000::/3')

/** Only what is plainly public: reserved, multicast, tunnelled and translated addresses have other ranges. */
function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL))
}

function contains(network: Address, bits: number, address: Address): boolean {
  return network.kind() === address.kind() && address.match([network, bits])
}

function plainName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}
