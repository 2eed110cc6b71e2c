import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { countedAddress } from '../../shared/counted-address.ts'
import { countedClient, plainForwardedAddresses, standsForMany } from './client-address.ts'

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['2001:db8:1:2:3::4', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '::1'],
])('%s is counted as %s', (ip, counted) => {
  expect(countedAddress(ip)).toBe(counted)
})

describe('an address that stands for many', () => {
  test.each<[false | true | readonly string[], string, boolean]>([
    [false, '1.2.3.4', false],
    [false, '10.0.0.1', false],
    [['10.0.0.1'], '10.0.0.2', false],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['10.0.0.0/8'], '2001:db8::1', false],
    [['uniquelocal'], '8.8.8.8', false],
    [['10.0.0.1'], 'nonsense', false],
    [false, '127.0.0.1', true],
    [false, '::ffff:127.0.0.1', true],
    [false, '::1', true],
    [['10.0.0.1'], '::ffff:10.0.0.1', true],
    [['10.0.0.0/8'], '10.200.0.1', true],
    [['2001:db8::/32'], '2001:db8::1', true],
    [['uniquelocal'], '192.168.0.1', true],
    [true, '1.2.3.4', true],
  ])('with %j trusted, %s: %j', (trusted, address, many) => {
    expect(standsForMany(trusted)(address)).toBe(many)
  })
})

test('an address of a proxy that cannot be read is refused', () => {
  expect(() => standsForMany(['nonsense'])).toThrow(/invalid IP address/)
})

test.each<[false | readonly string[], string, string | undefined, string | undefined]>([
  // What is not from a trusted proxy is not read.
  [false, '1.2.3.4', '5.6.7.8', '1.2.3.4'],
  [['10.0.0.1'], '10.0.0.2', '5.6.7.8', '10.0.0.2'],
  [['10.0.0.1'], '10.0.0.1', '9.9.9.9, 5.6.7.8', '5.6.7.8'],
  [['10.0.0.1'], '10.0.0.1', '127.0.0.1, 5.6.7.8', '5.6.7.8'],
  [['10.0.0.1'], '10.0.0.1', undefined, undefined],
  [['10.0.0.1'], '10.0.0.1', '', undefined],
  [['10.0.0.1'], '10.0.0.1', ' , ,', undefined],
  [false, '127.0.0.1', '5.6.7.8', undefined],
  [['10.0.0.0/8'], '10.0.0.1', '5.6.7.8,, 10.9.9.9', '5.6.7.8'],
  [['10.0.0.1'], '10.0.0.1', '5.6.7.8:4444', '5.6.7.8'],
  [['10.0.0.1'], '10.0.0.1', '[2001:db8:1:2:3::4]:443', '2001:db8:1:2'],
  [['10.0.0.1'], '::ffff:10.0.0.1', 'nonsense', 'nonsense'],
  [['loopback'], '127.0.0.1', '::ffff:5.6.7.8', '5.6.7.8'],
])(
  'with %j trusted, %s with x-forwarded-for %j is counted as %j',
  async (trustProxy, remote, forwarded, counted) => {
    const app = fastify({ trustProxy: trustProxy === false ? false : [...trustProxy] })
    const before: (string | undefined)[] = []
    const clientOf = countedClient(trustProxy)
    app.addHook('onRequest', async ({ raw }) => void before.push(clientOf(raw)))
    app.addHook('onRequest', plainForwardedAddresses)
    app.get('/', async ({ ip }) => ip)
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const { body } = await app.inject({ url: '/', remoteAddress: remote, headers })
    expect(before).toEqual([counted])
    // The rate limit counts the same.
    if (counted === undefined) expect(standsForMany(trustProxy)(body)).toBe(true)
    else expect(countedAddress(body)).toBe(counted)
    await app.close()
  },
)

test('a request whose connection is gone has no address, and is one client of its own', () => {
  const gone = Object.assign(new IncomingMessage(new Socket()), { headers: { 'x-forwarded-for': '1.2.3.4' } })
  expect(countedClient(false)(gone)).toBe(countedAddress(''))
  expect(countedClient(['10.0.0.1'])(gone)).toBe(countedAddress(''))
})
