/** The audit log of a running server and of its spaces at their receiver: no secrets, and what /health says while the receiver is down. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import type { TestQuoin } from './harness.ts'
import { openTestCluster, type TestCluster } from './space-fixture.ts'

let cluster: TestCluster
let fixture: TestQuoin
let server: LocalServer
let status = 200
let received = ''
beforeAll(async () => {
  server = await startLocalServer(async (request, response) => {
    for await (const chunk of request.setEncoding('utf8')) if (status === 200) received += chunk
    response.writeHead(status).end()
  })
  cluster = await openTestCluster({ QUOIN_AUDIT_STREAM: `${server.url}/`, QUOIN_RATE_LIMIT: '0' })
  fixture = cluster.operator
})
afterAll(async () => {
  await cluster?.close()
  await server?.close()
})

const health = async () => (await fixture.quoin.server.app.inject('/health/ready')).json()
const arrives = (text: string) => expect.poll(() => received, { timeout: 20_000 }).toContain(text)

test('a change arrives without its secrets, and a receiver that is down is said in /health', async () => {
  const guid = await fixture.addUser('streamed', [])
  await fixture.manage('PUT', `/users/${guid}`, { password: 'a fresh password of a user' })
  const made = JSON.stringify(
    await fixture.manage('POST', `/users/${guid}/keys`, { name: 'streamed key', scopes: [] }),
  )
  await arrives('streamed key')
  expect(received).toContain('"changes":["password"]')
  for (const secret of ['a fresh password', 'argon2', /qk_[\w-]{20,}/.exec(made)?.[0] ?? made])
    expect(received).not.toContain(secret)
  expect(received).not.toMatch(/key_hash|password_hash/)
  expect(await health()).toEqual({ status: 'ready' })
  status = 503
  await fixture.addUser('waiting', [])
  const late = async () => {
    fixture.advance(61_000)
    return health()
  }
  await expect.poll(late, { timeout: 20_000 }).toEqual({ status: 'ready', warning: 'audit_stream' })
  status = 200
  await arrives('"name":"waiting"')
  await expect.poll(health, { timeout: 20_000 }).toEqual({ status: 'ready' })
})

test('what changes in a space arrives with the guid of the space, and nothing of another', async () => {
  const [red, blue] = [await cluster.addSpace('red'), await cluster.addSpace('blue')]
  await red.addUser('streamed_red', [])
  await blue.addUser('streamed_blue', [])
  await arrives('streamed_red')
  await arrives('streamed_blue')
  const lines = received
    .trimEnd()
    .split('\n')
    .filter((line) => /streamed_(?:red|blue)/.test(line))
  const spaces = lines.map((line) => [line.includes('streamed_red'), JSON.parse(line).space])
  expect(new Set(spaces.map((one) => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify([true, red.guid]), JSON.stringify([false, blue.guid])]),
  )
  const own = received.split('\n').find((line) => line.includes('"name":"waiting"'))
  expect(JSON.parse(own ?? '{}')).not.toHaveProperty('space')
})
