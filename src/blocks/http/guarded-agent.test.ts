import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { guardedAgent, type Resolve } from './guarded-agent.ts'

let server: LocalServer
let requests: string[] = []

beforeAll(async () => {
  server = await startLocalServer((request, response) => {
    requests.push(request.url ?? '')
    response.end('here')
  })
})

afterAll(() => server.close())

beforeEach(() => {
  requests = []
})

/** A resolver that answers as told, each time the next answer, and counts. */
function resolverOf(...answers: readonly (readonly string[])[]): Resolve & { asked: () => number } {
  let asked = 0
  const resolve: Resolve = (_hostname, done) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return Object.assign(resolve, { asked: () => asked })
}

async function get(hostname: string, allowed: readonly string[], resolve?: Resolve): Promise<string> {
  const agent = await guardedAgent(allowed, resolve)
  try {
    const { body } = await agent.request({
      origin: `http://${hostname}:${server.port}`,
      path: '/',
      method: 'GET',
    })
    return await body.text()
  } finally {
    await agent.destroy()
  }
}

const refusal = { name: 'PinError', pin: 'url' }

test.each([
  ['an address', '127.0.0.1', [], undefined],
  ['an address in IPv6 clothes', '[::ffff:127.0.0.1]', [], undefined],
  ['a name of this machine', 'localhost', [], undefined],
  ['a public name of a private address', 'rebind.example', [], resolverOf(['127.0.0.1'])],
  ['one private address among public ones', 'mixed.example', [], resolverOf(['93.184.216.34', '127.0.0.1'])],
  ['another name than the one that is allowed', 'rebind.example', ['localhost'], resolverOf(['127.0.0.1'])],
  ['another port than the one that is allowed', '127.0.0.1', ['127.0.0.1:1'], undefined],
])('%s is refused, and nothing arrives', async (_case, hostname, allowed, resolve) => {
  await expect(get(hostname, allowed, resolve)).rejects.toMatchObject(refusal)
  expect(requests).toEqual([])
})

test('a name without an address, and one that does not resolve, fail without a refusal', async () => {
  await expect(get('none.example', [], resolverOf([]))).rejects.toThrow('none.example has no address')
  const failing: Resolve = (_hostname, done) => done(new Error('no such name'), [])
  await expect(get('none.example', [], failing)).rejects.toThrow('no such name')
})

test.each([
  ['the address', '127.0.0.1', ['127.0.0.1'], undefined],
  ['the network', '127.0.0.1', ['127.0.0.0/8'], undefined],
  ['the name', 'db.internal', ['db.internal'], resolverOf(['127.0.0.1'])],
  ['the address behind the name', 'db.internal', ['127.0.0.1'], resolverOf(['127.0.0.1'])],
])('allowed by %s', async (_case, hostname, allowed, resolve) => {
  expect(await get(hostname, allowed, resolve)).toBe('here')
  expect(requests).toEqual(['/'])
})

test('the name and its port are allowed together', async () => {
  expect(await get('localhost', [`localhost:${server.port}`])).toBe('here')
})

test('the address that was checked is the one connected to: the name is resolved once', async () => {
  const resolve = resolverOf(['127.0.0.1'], ['169.254.169.254'])
  expect(await get('rebind.example', ['127.0.0.1'], resolve)).toBe('here')
  expect(resolve.asked()).toBe(1)
})
