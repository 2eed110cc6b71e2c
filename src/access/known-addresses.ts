/**
 * From where a user signs in. A user's record keeps the addresses from which it signed in last, in `known_addresses`, and
 * failures are counted per place:
 *
 * - an address from which the user signed in before: that address.
 * - another address of its network: that network.
 * - anything else: its network, and all such networks together.
 *
 * A network is an IPv4 /24 or an IPv6 /48. Both hold about 256 lines of customers of one provider (a line is one IPv4
 * address or a /56), so a user whose provider gives out another address is still known, and a guesser with one line
 * never has a second network. The address counts apart from its network, so that a neighbour cannot lock the user out.
 */
import ipaddr from 'ipaddr.js'

/** Kept for each user. Each adds at most as many guesses as lock a place; 20 are two years of a new address a month. */
const MOST_ADDRESSES = 20

export interface SignInPlace {
  /** Under which failures are counted. */
  readonly key: string
  /** Whether the user signed in from this network before. */
  readonly known: boolean
}

export function signInPlace(ip: string, knownAddresses: readonly string[]): SignInPlace {
  const address = addressKey(ip)
  if (knownAddresses.includes(address)) return { key: address, known: true }
  const network = networkOf(ip)
  return { key: network, known: knownAddresses.some((known) => networkOfKey(known) === network) }
}

/** The addresses after a sign-in, the newest first. The same list if nothing changes. */
export function withAddress(knownAddresses: readonly string[], ip: string): readonly string[] {
  const address = addressKey(ip)
  if (knownAddresses[0] === address) return knownAddresses
  return [address, ...knownAddresses.filter((known) => known !== address)].slice(0, MOST_ADDRESSES)
}

/** One key per line that one customer is given: an IPv4 address, however it is written, or the /64 of an IPv6 one. */
export function addressKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, 64)
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().slice(0, 8)
  return `${Buffer.from(network)
    .toString('hex')
    .replace(/(.{4})(?=.)/g, '$1:')}::/64`
}

/** `192.0.2.0/24` or `2001:db8:1::/48`; what is no IP address is a network of its own. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, 64)
  const address = ipaddr.process(ip)
  const bits = address.kind() === 'ipv4' ? 24 : 48
  const network =
    address instanceof ipaddr.IPv4
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone(address.toString())}/${bits}`)
  return `${network}/${bits}`
}

/** Keys of IPv6 addresses are the text of their /64. */
function networkOfKey(key: string): string {
  return networkOf(key.replace(/\/64$/, ''))
}

function withoutZone(address: string): string {
  return address.replace(/%.*/s, '')
}
