import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allowedHostProblem, destinationGuard } from './allowed-hosts.ts'

function isOpen(entries: readonly string[], address: string, hostname = address, port = '80'): boolean {
  return destinationGuard(entries)({ hostname, port, address })
}

test.each([
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['loopback', '::1'],
  ['this machine', '0.0.0.0'],
  ['this machine', '::'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['link-local, the metadata service', '169.254.169.254'],
  ['link-local', 'fe80::1'],
  ['unique local', 'fc00::1'],
  ['unique local', 'fd12:3456::1'],
  ['site-local', 'fec0::1'],
  ['multicast', '224.0.0.1'],
  ['multicast', 'ff02::1'],
  ['broadcast', '255.255.255.255'],
  ['benchmarks', '198.18.0.1'],
  ['documentation', '192.0.2.1'],
  ['documentation', '2001:db8::1'],
  ['reserved', '240.0.0.1'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1'],
  ['IPv4 in IPv6', '::ffff:7f00:1'],
  ['IPv4 in IPv6', '::ffff:a9fe:a9fe'],
  ['IPv4 in IPv6', '::10.0.0.1'],
  ['IPv4 in IPv6, as a URL writes it', '::7f00:1'],
  ['IPv4 in IPv6, public', '::8.8.8.8'],
  ['not given out', '4000::1'],
  ['translated', '64:ff9b::a00:1'],
  ['tunnelled', '2002:a00:1::'],
  ['tunnelled', '2001::1'],
  ['no address', 'localhost'],
  ['no address', ''],
  ['no canonical address', '127.1'],
])('%s is closed: %s', (_why, address) => {
  expect(isOpen([], address)).toBe(false)
})

test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '::ffff:8.8.8.8', '2606:4700::1111'])(
  '%s is public',
  (address) => {
    expect(isOpen([], address)).toBe(true)
  },
)

test.each([
  ['db.internal', '10.0.0.5', 'db.internal', '80', true],
  ['DB.Internal', '10.0.0.5', 'db.internal.', '443', true],
  ['db.internal:8080', '10.0.0.5', 'db.internal', '8080', true],
  ['db.internal:8080', '10.0.0.5', 'db.internal', '80', false],
  ['db.internal', '10.0.0.5', 'other.internal', '80', false],
  ['db.internal', '10.0.0.5', 'x.db.internal', '80', false],
  ['db.internal', '10.0.0.5', '10.0.0.5', '80', false],
  ['10.0.0.5', '10.0.0.5', 'db.internal', '80', true],
  ['10.0.0.5', '::ffff:10.0.0.5', 'db.internal', '80', true],
  ['10.0.0.5', '10.0.0.6', 'db.internal', '80', false],
  ['10.0.0.5:8080', '10.0.0.5', 'db.internal', '8080', true],
  ['10.0.0.5:8080', '10.0.0.5', 'db.internal', '81', false],
  ['10.0.0.0/8', '10.200.0.5', 'db.internal', '81', true],
  ['10.0.0.0/8', '11.0.0.1', 'x', '80', true],
  ['10.0.0.0/8', '172.16.0.1', 'x', '80', false],
  ['10.0.0.0/8', '::1', 'x', '80', false],
  ['::1', '::1', 'localhost', '80', true],
  ['[::1]:8080', '::1', '::1', '8080', true],
  ['[::1]:8080', '::1', '::1', '80', false],
  ['fd00::/8', 'fd12::1', 'x', '80', true],
  ['not an entry', '10.0.0.1', 'not an entry', '80', false],
  ['*', '10.0.0.1', 'x', '80', false],
  ['', '10.0.0.1', '', '80', false],
])('with %j, %s as %s:%s is open: %s', (entry, address, hostname, port, open) => {
  expect(isOpen([entry], address, hostname, port)).toBe(open)
})

test.each(['not an entry', '*', '', '10.0.0.0/99', 'http://a', 'a:b', '[a]', '[1.2.3.4'])(
  '%j is no entry',
  (entry) => {
    expect(allowedHostProblem(entry)).toMatch(/^must be a host name/)
  },
)

test.each(['localhost', 'a.b:80', '10.0.0.1', '10.0.0.0/8', '::1', '[::1]:80', 'fd00::/8'])(
  '%j is an entry',
  (entry) => {
    expect(allowedHostProblem(entry)).toBeUndefined()
  },
)

test('every address of a private IPv4 network is closed, plain and in IPv6 clothes', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  const networks = fc.oneof(
    fc.tuple(fc.constant(10), byte, byte, byte),
    fc.tuple(fc.constant(127), byte, byte, byte),
    fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
    fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  )
  fc.assert(
    fc.property(networks, (bytes) => {
      const address = bytes.join('.')
      return !isOpen([], address) && !isOpen([], `::ffff:${address}`)
    }),
  )
})
