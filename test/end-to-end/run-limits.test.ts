/** Runs that would never end: each is stopped with 503, the process answers others meanwhile, nothing is stored. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const BUDGET = 50_000
/** For circles. On PostgreSQL each write is a round trip. */
const CIRCLE_BUDGET = inject('engine') === 'postgres' ? 2_000 : BUDGET

const stopped = { status: 503, body: { error: 'the request took too long' } }
/** Milliseconds. Long enough for a busy machine to answer others within it. */
const DEADLINE = 600

let byDeadline: TestQuoin
let byBudget: TestQuoin
let circling: TestQuoin
let silent: LocalServer
/** Resolves when the connection of the next request to the silent server has come, and again when it is gone. */
let come: PromiseWithResolvers<{ readonly gone: Promise<void> }>

beforeAll(async () => {
  silent = await startLocalServer((request) => {
    come.resolve({ gone: new Promise((gone) => request.socket.once('close', () => gone())) })
  })
  byDeadline = await openTestQuoin({
    QUOIN_RUN_DEADLINE: `${DEADLINE}`,
    QUOIN_RUN_BUDGET: '1000000000',
    QUOIN_ALLOWED_HOSTS: '127.0.0.1',
  })
  byBudget = await openTestQuoin({ QUOIN_RUN_BUDGET: `${BUDGET}` })
  circling = await openTestQuoin({ QUOIN_RUN_BUDGET: `${CIRCLE_BUDGET}` })
})

afterAll(async () => {
  await byDeadline.close()
  await byBudget.close()
  await circling.close()
  await silent.close()
})

/** A flow that keeps a document, and then what `more` does. */
function keeping(uri: string, more: JsonObject): JsonObject {
  return {
    kept: { type: 'storage', fields: { storage: uri } },
    on: { type: 'on_startup_register_uri_post', in: { uri } },
    set: { type: 'mutations_set_custom_field', in: { field: 'uri', value: uri } },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@on.flow', storage: '@kept.storage', mutations: '@set.mutations' },
    },
    ...more,
  }
}

const circles: [string, JsonObject][] = [
  ['one-block', { again: { type: 'branch', in: { flow: ['@keep.flow', '@again.true'], condition: true } } }],
  [
    'two-blocks',
    {
      first: { type: 'branch', in: { flow: ['@keep.flow', '@second.true'], condition: true } },
      second: { type: 'branch', in: { flow: '@first.true', condition: true } },
    },
  ],
  [
    'two-wires',
    {
      again: { type: 'branch', in: { flow: ['@keep.flow', '@again.true'], condition: true } },
      beside: { type: 'branch', in: { flow: '@again.true', condition: true } },
    },
  ],
  [
    'writes-for-ever',
    {
      again: {
        type: 'function_create_document_from_mutations',
        in: { flow: ['@keep.flow', '@again.flow'], storage: '@kept.storage', mutations: '@set.mutations' },
      },
    },
  ],
]

describe.each(circles)('a circle: %s', (name, blocks) => {
  /** Another one each time, so that a second try finds it free. */
  let tries = 0
  const newUri = () => `${name}-${++tries}`

  test('its budget ends it', async () => {
    const uri = newUri()
    await circling.install(uri, keeping(uri, blocks))
    expect(await circling.send('POST', `/${uri}`, { body: {} })).toMatchObject(stopped)
    expect(await circling.documents(uri)).toEqual([])
    const [entry, ...more] = (await circling.systemLog()).filter(({ level }) => level === 'error').slice(-1)
    expect(entry).toMatchObject({ message: `The run executed ${CIRCLE_BUDGET} blocks, which is its budget.` })
    expect(more).toEqual([])
  })

  test('its deadline ends it, and others are answered meanwhile', async () => {
    const uri = newUri()
    await byDeadline.install(uri, keeping(uri, blocks))
    const address = await listening(byDeadline)
    let over = false
    const circle = fetch(`${address}/${uri}`, { method: 'POST' }).then(async (reply) => {
      over = true
      return { status: reply.status, body: await reply.json() }
    })
    let meanwhile = 0
    while (!over) {
      const info = await fetch(`${address}/info`)
      await info.arrayBuffer()
      if (!over && info.status === 200) meanwhile++
    }
    expect(await circle).toMatchObject(stopped)
    // Usually hundreds; beside other work on two cores few.
    expect(meanwhile).toBeGreaterThan(0)
    expect(await byDeadline.documents(uri)).toEqual([])
    expect((await byDeadline.systemLog()).at(-1)?.message).toBe(`The run did not end within ${DEADLINE} ms.`)
  })
})

let address: string | undefined
async function listening(quoin: TestQuoin): Promise<string> {
  address ??= `${await quoin.quoin.server.listen()}/api/v1`
  return address
}

describe('a block that waits', () => {
  const asking = { type: 'http_request', in: { flow: '@keep.flow', url: '', timeout: 600 } }
  const waiting = (flow: string) => ({ ask: { ...asking, in: { ...asking.in, flow, url: silent.url } } })

  test('for ever: 503 at the deadline, and its connection is given up', async () => {
    come = Promise.withResolvers()
    const reply = { type: 'httpconnection_set_json', in: { flow: '@ask.flow' } }
    await byDeadline.install('waits', keeping('waits', { ...waiting('@keep.flow'), reply }))
    const answer = byDeadline.send('POST', '/waits', { body: {} })
    const { gone } = await come.promise
    // What a run wrote before an external request is durable before that request.
    expect(await byDeadline.documents('waits')).toHaveLength(1)
    expect(await answer).toMatchObject(stopped)
    await gone
  })

  test('behind the reply: the client has its reply, and the run is stopped and logged all the same', async () => {
    come = Promise.withResolvers()
    const reply = { type: 'httpconnection_set_json', in: { flow: '@keep.flow', code: 201 } }
    const after = {
      type: 'function_create_document_from_mutations',
      in: { flow: '@ask.flow', storage: '@kept.storage', mutations: '@set.mutations' },
    }
    await byDeadline.install('late', keeping('late', { reply, ...waiting('@reply.flow'), after }))
    const before = (await byDeadline.systemLog()).length
    expect((await byDeadline.send('POST', '/late', { body: {} })).status).toBe(201)
    await (await come.promise).gone
    await expect.poll(async () => (await byDeadline.systemLog()).length).toBe(before + 1)
    expect((await byDeadline.systemLog()).at(-1)).toMatchObject({ level: 'error' })
    expect(await byDeadline.documents('late')).toHaveLength(1)
  })
})

describe('values', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => i)
  const on = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri } })
  const replying = { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: '@map.array' } }

  test('maps inside maps of what was sent are within the budget too', async () => {
    await byBudget.install('pairs', {
      on: on('pairs'),
      map: { type: 'array_map', in: { array: '@on.body', result: '@inner.array' } },
      inner: { type: 'array_map', in: { array: '@on.body', result: '@pair.object' } },
      pair: {
        type: 'object_new_fields',
        fields: { fields: ['a', 'b'] },
        in: { a: '@map.item', b: '@inner.item' },
      },
      reply: replying,
    })
    expect(await byBudget.send('POST', '/pairs', { body: many })).toMatchObject(stopped)
    const small = await byBudget.send('POST', '/pairs', { body: [1, 2] })
    expect(small.body).toEqual([1, 2].map((a) => [1, 2].map((b) => ({ a, b }))))
  })

  test('a reply too long to be written is 500, and not a client that waits for ever', async () => {
    const blueprint = {
      on: on('laughs'),
      map: { type: 'array_map', in: { array: '@on.body', result: '@inner.array' } },
      inner: { type: 'array_map', in: { array: '@on.body', result: '@inner.item' } },
      reply: replying,
    }
    await byBudget.install('laughs', blueprint)
    // 600 × 600 × 1,700 characters of one megabyte that was sent: longer than the longest string.
    const body = Array.from({ length: 600 }, () => 'ha'.repeat(850))
    const answer = await byBudget.send('POST', '/laughs', { body })
    expect(answer).toMatchObject({ status: 500, body: { error: 'internal error' } })
    const { run } = objectOf(answer.body)
    expect((await byBudget.systemLog()).at(-1)).toMatchObject({ level: 'error', run })
    expect((await byBudget.send('POST', '/laughs', { body: ['ha'] })).body).toEqual([['ha']])
  })

  test('a list that is too long is refused', async () => {
    const map = { type: 'array_map', in: { array: '@on.body', result: '@map.item' } }
    await byBudget.install('long', { on: on('long'), map, reply: replying })
    expect((await byBudget.send('POST', '/long', { body: many })).body).toEqual(many)
    const answer = await byBudget.send('POST', '/long', { body: [...many, 0] })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('10,000') } })
  })
})

test('a custom function that calls itself for ever is 500, and the log says why', async () => {
  await byBudget.install('deep', {
    ...keeping('deep', {
      call: { type: 'function_custom_execute', in: { flow: '@keep.flow', function: 'deeper' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@call.flow' } },
    }),
    deeper: { type: 'trigger_custom_function', fields: { name: 'deeper' } },
    again: { type: 'function_custom_execute', in: { flow: '@deeper.flow', function: 'deeper' } },
  })
  const answer = await byBudget.send('POST', '/deep', { body: {} })
  expect(answer).toMatchObject({ status: 500, body: { error: 'internal error' } })
  const { run } = objectOf(answer.body)
  expect((await byBudget.systemLog()).at(-1)).toMatchObject({ run, message: expect.stringContaining('deep') })
  expect(await byBudget.documents('deep')).toEqual([])
})
