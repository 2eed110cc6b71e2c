/** What happens to a request while the blueprint that it runs on is replaced or switched off. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { type Answer, guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let blueprint: string
let slow: LocalServer

/** Another server that does not reply before `release`; `arrived` resolves when the next request has come. */
let arrived: Promise<void>
let release: () => void

beforeAll(async () => {
  let arrive: () => void = () => undefined
  const waiting: (() => void)[] = []
  slow = await startLocalServer((_request, response) => {
    waiting.push(() => response.end('done'))
    arrive()
    arrived = new Promise((resolve) => {
      arrive = resolve
    })
  })
  arrived = new Promise((resolve) => {
    arrive = resolve
  })
  release = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  quoin = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${slow.port}` })
})

afterAll(async () => {
  await quoin.close()
  await slow.close()
})

// The flow says "old" in a document before it waits and in its reply afterwards.
beforeEach(async () => {
  blueprint = await quoin.install('waits', waiting('old'))
})

afterEach(async () => {
  release()
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  await quoin.manage('DELETE', `/blueprints/${blueprint}`)
})

function waiting(word: string): JsonObject {
  return {
    words: { type: 'storage', fields: { storage: 'words' } },
    on: { type: 'on_startup_register_uri_post', in: { uri: 'waits' } },
    ask: { type: 'http_request', in: { flow: '@on.flow', url: slow.url } },
    set: { type: 'mutations_set_custom_field', in: { field: 'word', value: word } },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@ask.flow', storage: '@words.storage', mutations: '@set.mutations' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@keep.flow', value: word } },
  }
}

/** Replaces what it says and no longer waits. */
async function deployNew(): Promise<void> {
  const filters = { blueprint_guid: blueprint }
  const blocks = objectsOf(await quoin.manage('POST', '/blueprintactions/search', { filters }))
  const one = (type: string) => guidOf(blocks.find((block) => block.type === type))
  const flow = (type: string) => ({ id: 'flow', from: [{ block: one(type), pin: 'flow' }] })
  const path = (type: string) => `/blueprintactions/${one(type)}`
  const trigger = 'on_startup_register_uri_post'
  await quoin.manage('PUT', path('httpconnection_set_json'), {
    in_pins: [flow(trigger), { id: 'value', value: 'new' }],
  })
  for (const type of ['http_request', 'function_create_document_from_mutations'])
    await quoin.manage('DELETE', path(type))
  await quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  await quoin.manage('POST', `/blueprints/deploy/${blueprint}`)
}

const ask = (): Promise<Answer> => quoin.send('POST', '/waits', { body: {} })
const words = async () => (await quoin.documents('words')).map(({ word }) => word)

test('a request in flight ends on the flow that it began with; the next one runs the new flow', async () => {
  const before = (await words()).length
  const old = ask()
  await arrived
  await deployNew()
  expect(await ask()).toMatchObject({ status: 200, body: 'new' })
  expect((await words()).length, 'the new flow stores nothing').toBe(before)
  release()
  expect(await old).toMatchObject({ status: 200, body: 'old' })
  expect((await words()).slice(before)).toEqual(['old'])
})

test('a request in flight ends well while its blueprint is switched off; the next one is 404', async () => {
  const before = (await words()).length
  const old = ask()
  await arrived
  await quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  expect(await ask()).toMatchObject({ status: 404, body: { error: 'not found' } })
  release()
  expect(await old).toMatchObject({ status: 200, body: 'old' })
  expect((await words()).slice(before)).toEqual(['old'])
})

test('deploying has no gap and mixes nothing: each reply is wholly of one deployment', async () => {
  const saying = (word: string): JsonObject => ({
    on: { type: 'on_startup_register_uri_get', in: { uri: 'whole' } },
    first: { type: 'value_default', title: 'first', in: { default: word } },
    second: { type: 'value_default', title: 'second', in: { default: word } },
    both: {
      type: 'object_new_fields',
      fields: { fields: ['first', 'second'] },
      in: { first: '@first.value', second: '@second.value' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: '@both.object' } },
  })
  const guid = await quoin.install('whole', saying('0'))
  const filters = { blueprint_guid: guid, type: 'value_default' }
  const values = objectsOf(await quoin.manage('POST', '/blueprintactions/search', { filters })).map(guidOf)
  let deploying = true
  const seen = new Set<string>()
  const asking = Array.from({ length: 8 }, async () => {
    while (deploying) {
      seen.add((await quoin.send('GET', '/whole')).text)
      // Without a socket in between, nothing else would ever have a turn.
      await nextTurn()
    }
  })
  for (let n = 1; n <= 15; n++) {
    for (const value of values)
      await quoin.manage('PUT', `/blueprintactions/${value}`, { in_pins: [{ id: 'default', value: `${n}` }] })
    await quoin.manage('POST', `/blueprintactions/unsaved/${guid}`)
    await quoin.manage('POST', `/blueprints/deploy/${guid}`)
    expect((await quoin.send('GET', '/whole')).text).toBe(JSON.stringify({ first: `${n}`, second: `${n}` }))
  }
  deploying = false
  await Promise.all(asking)
  const whole = Array.from({ length: 16 }, (_, n) => JSON.stringify({ first: `${n}`, second: `${n}` }))
  expect([...seen].filter((reply) => !whole.includes(reply))).toEqual([])
  expect(seen.size).toBeGreaterThan(5)
})

test('a node that stops begins no more jobs while requests in flight end', async () => {
  const own = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${slow.port}` })
  try {
    await own.install('waits', waiting('last'))
    const address = await own.quoin.server.listen()
    const { queue } = own.quoin.background
    if (queue === undefined) throw new Error('This node runs no jobs.')
    const drained = vi.spyOn(queue, 'close')
    const headers = {
      authorization: `Bearer ${await own.tokenOf('admin')}`,
      'content-type': 'application/json',
    }
    const last = fetch(`${address}/api/v1/waits`, { method: 'POST', headers, body: '{}' })
    await arrived
    const closing = own.quoin.close()
    await expect.poll(() => drained.mock.calls.length).toBeGreaterThan(0)
    release()
    const reply = await last
    expect([reply.status, await reply.json()]).toEqual([200, 'last'])
    await closing
  } finally {
    await own.close()
  }
})
