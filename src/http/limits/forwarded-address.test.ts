import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTemporaryServer, type TemporaryServer } from '../../../test/temporary-server.ts'

let server: TemporaryServer
beforeAll(async () => {
  server = await openTemporaryServer({
    settings: { trustProxy: ['127.0.0.1', '10.0.0.1'], rateLimit: 2 },
    api: [
      (app) => {
        app.get('/_system/ip', { config: { permission: 'public' } }, ({ ip }) => ({ ip }))
      },
    ],
  })
})
afterAll(() => server.close())

const ask = (forwarded: string, remoteAddress = '127.0.0.1') =>
  server.app.inject({
    url: '/api/v1/_system/ip',
    headers: { 'x-forwarded-for': forwarded },
    remoteAddress,
  })

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['1.2.3.4:5555', '1.2.3.4'],
  ['9.9.9.9, 1.2.3.5:80 ,10.0.0.1:443', '1.2.3.5'],
  ['[2001:db8:1::1]:443', '2001:db8:1::1'],
  ['[2001:db8:2::1]', '2001:db8:2::1'],
  ['2001:db8:3::1', '2001:db8:3::1'],
])('%s is the client %s', async (forwarded, ip) => {
  expect((await ask(forwarded)).json()).toEqual({ ip })
})

test('the ports of one client are one address for the rate limit', async () => {
  const statuses: number[] = []
  for (const port of [1, 2, 3]) statuses.push((await ask(`7.7.7.7:${port}`)).statusCode)
  expect(statuses).toEqual([200, 200, 429])
})

test('no other proxy is trusted', async () => {
  expect((await ask('1.2.3.4:1', '8.8.4.4')).json()).toEqual({ ip: '8.8.4.4' })
})
