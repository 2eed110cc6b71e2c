import { describe, expect, test } from 'vitest'
import { addressKey, networkOf, signInPlace, withAddress } from './known-addresses.ts'

describe('one address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:0db8:0000:0000::/64'],
    ['2001:DB8:0:0:ffff:1:2:3', '2001:0db8:0000:0000::/64'],
    ['2001:db8:0:1::1', '2001:0db8:0000:0001::/64'],
    ['fe80::1%eth0', 'fe80:0000:0000:0000::/64'],
    ['unix', 'unix'],
    ['x'.repeat(1000), 'x'.repeat(64)],
  ])('%s is counted as %s', (ip, key) => {
    expect(addressKey(ip)).toBe(key)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.0/24'],
  ['::ffff:192.0.2.255', '192.0.2.0/24'],
  ['192.0.3.1', '192.0.3.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8:2::1', '2001:db8:2::/48'],
  ['fe80::1%eth0', 'fe80::/48'],
  ['unix', 'unix'],
  ['x'.repeat(1000), 'x'.repeat(64)],
])('%s is of the network %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})

describe('a place', () => {
  const known = ['192.0.2.1', addressKey('2001:db8:1:2::9')]
  test.each([
    ['an address from which the user signed in', '192.0.2.1', '192.0.2.1', true],
    ['its neighbour', '192.0.2.2', '192.0.2.0/24', true],
    ['another network', '192.0.3.1', '192.0.3.0/24', false],
    ['the same /64', '2001:db8:1:2::ffff', '2001:0db8:0001:0002::/64', true],
    ['another /64 of the same /48', '2001:db8:1:3::9', '2001:db8:1::/48', true],
    ['another /48', '2001:db8:2:2::9', '2001:db8:2::/48', false],
  ])('%s', (_name, ip, key, isKnown) => {
    expect(signInPlace(ip, known)).toEqual({ key, known: isKnown })
    expect(signInPlace(ip, []).known).toBe(false)
  })
})

test('20 addresses are kept, those used last, each once', () => {
  let known: readonly string[] = []
  for (let last = 1; last <= 30; last++) known = withAddress(known, `192.0.2.${last}`)
  expect(known).toHaveLength(20)
  expect([known[0], known.at(-1)]).toEqual(['192.0.2.30', '192.0.2.11'])
  expect(withAddress(known, '192.0.2.30')).toBe(known)
  expect(withAddress(known, '192.0.2.11').slice(0, 2)).toEqual(['192.0.2.11', '192.0.2.30'])
  expect(withAddress(known, '192.0.2.11')).toHaveLength(20)
})
