/** Runs that fail, say nothing, or say something twice: what the client sees, what is logged, and what is undone. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let uri: string
let count = 0
let logged: number
/** Never replies. */
let silent: LocalServer

beforeAll(async () => {
  silent = await startLocalServer(() => undefined)
  quoin = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: '127.0.0.1' })
})

afterAll(async () => {
  await quoin.close()
  await silent.close()
})

beforeEach(async () => {
  uri = `run-${count++}`
  logged = (await quoin.systemLog()).length
})

/** A trigger and a block `keep` behind it that stores a document. */
const keeping = (): JsonObject => ({
  kept: { type: 'storage', fields: { storage: uri } },
  on: { type: 'on_startup_register_uri_post', in: { uri } },
  set: { type: 'mutations_set_custom_field', in: { field: 'by', value: 'first' } },
  keep: create('@on.flow'),
})

const create = (flow: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: '@kept.storage', mutations: '@set.mutations' },
})

/** A block that fails whenever it runs: its limit is no number, and no request is to blame for it. */
const failing = (flow: string): JsonObject => ({
  wrong: { type: 'value_default', in: { default: 'many' } },
  fail: { type: 'function_search', in: { flow, storage: '@kept.storage', limit: '@wrong.value' } },
})

const reply = (flow: string, code: number, value: string | number = 'done') => ({
  type: 'httpconnection_set_json',
  in: { flow, code, value },
})

const run = () => quoin.send('POST', `/${uri}`, { body: {} })
const kept = () => quoin.documents(uri)
/** What runs wrote; a deploy warns of what these flows are made for. */
const log = async () => (await quoin.systemLog()).slice(logged).filter((entry) => entry.run !== undefined)

async function blockOf(blueprint: string, type: string): Promise<string> {
  const filters = { blueprint_guid: blueprint, type }
  return guidOf(objectsOf(await quoin.manage('POST', '/blueprintactions/search', { filters }))[0])
}

describe('a block that fails', () => {
  test('500 with the run and no cause; one log record with block, pin and run; nothing is stored', async () => {
    const more = { ...failing('@keep.flow'), reply: reply('@fail.flow', 201) }
    const blueprint = await quoin.install(uri, { ...keeping(), ...more })
    const answer = await run()
    expect(answer.status).toBe(500)
    const { run: guid, ...rest } = objectOf(answer.body)
    expect(rest).toEqual({ error: 'internal error' })
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(await log()).toMatchObject([
      {
        level: 'error',
        run: guid,
        blueprint,
        block: await blockOf(blueprint, 'function_search'),
        pin: 'limit',
        message: expect.stringContaining('number'),
      },
    ])
    expect(await kept()).toEqual([])
  })

  test.each([
    ['a custom function that is not there', { type: 'function_custom_execute', in: { function: 'nobody' } }],
    ['a forbidden address', { type: 'http_request', in: { url: 'http://169.254.169.254/secret' } }],
  ])('%s: 500 without a word about it', async (_name, block) => {
    const fail = { ...block, in: { ...block.in, flow: '@on.flow' } }
    await quoin.install(uri, { ...keeping(), fail, reply: reply('@fail.flow', 201) })
    const answer = await run()
    expect([answer.status, objectOf(answer.body).error]).toEqual([500, 'internal error'])
    expect(answer.text).not.toMatch(/nobody|169\.254|secret/)
    expect(await log()).toHaveLength(1)
  })

  test('what the request brought is 400 naming it, and fills no log', async () => {
    await quoin.install(uri, {
      ...keeping(),
      sent: { type: 'httpconnection_get_params', in: { field: 'page' } },
      search: {
        type: 'function_search',
        in: { flow: '@keep.flow', storage: '@kept.storage', offset: '@sent.value' },
      },
      reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
    })
    const answer = await quoin.send('POST', `/${uri}?page=abc`, { body: {} })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^page must be/) } })
    expect([await kept(), await log()]).toEqual([[], []])
    expect((await quoin.send('POST', `/${uri}?page=0`, { body: {} })).body).toHaveLength(1)
  })

  test('with its error pin wired the flow goes on, told what went wrong, and what was stored before stays', async () => {
    const blueprint = await quoin.install(uri, {
      ...keeping(),
      ...failing('@keep.flow'),
      never: reply('@fail.flow', 201),
      reply: {
        type: 'httpconnection_set_json',
        in: { flow: '@fail.error', code: 418, value: '@fail.error' },
      },
    })
    const answer = await run()
    const block = await blockOf(blueprint, 'function_search')
    expect(answer).toMatchObject({
      status: 418,
      body: { code: 'INTERNAL', message: 'internal error', block },
    })
    expect(await kept()).toHaveLength(1)
  })
})

describe('what a run stores is one transaction', () => {
  test('up to its reply: a failure behind it undoes only what came after, and the client has its reply', async () => {
    await quoin.install(uri, {
      ...keeping(),
      reply: reply('@keep.flow', 201),
      after: create('@reply.flow'),
      ...failing('@after.flow'),
    })
    expect(await run()).toMatchObject({ status: 201, body: 'done' })
    expect(await kept()).toHaveLength(1)
    // What comes behind the reply may still be under way.
    await expect.poll(log).toMatchObject([{ level: 'error', pin: 'limit' }])
    expect(await kept()).toHaveLength(1)
  })

  test('over all branches: one that fails undoes the others', async () => {
    await quoin.install(uri, {
      ...keeping(),
      beside: create('@keep.flow'),
      ...failing('@keep.flow'),
      also: create('@keep.flow'),
    })
    expect((await run()).status).toBe(500)
    expect(await kept()).toEqual([])
  })

  // No other branch handles the waiting branch's end: as an unhandled rejection it would end the process, and this run.
  test.each(['before', 'behind'])('a branch that waits is stopped when one %s it fails', async (place) => {
    const wait = { type: 'http_request', in: { flow: '@keep.flow', url: silent.url } }
    const fail = failing('@keep.flow')
    const branches = place === 'before' ? { ...fail, wait } : { wait, ...fail }
    await quoin.install(uri, { ...keeping(), ...branches, never: reply('@wait.flow', 200) })
    expect((await run()).status).toBe(500)
    expect(await log()).toMatchObject([{ level: 'error', pin: 'limit' }])
  })

  test('custom functions included', async () => {
    await quoin.install(uri, {
      ...keeping(),
      function: { type: 'trigger_custom_function', fields: { name: uri } },
      within: create('@function.flow'),
      call: { type: 'function_custom_execute', in: { flow: '@keep.flow', function: uri } },
      ...failing('@call.flow'),
    })
    expect((await run()).status).toBe(500)
    expect(await kept()).toEqual([])
  })

  test('a run reads what it has written, and others do not before its reply', async () => {
    await quoin.install(uri, {
      ...keeping(),
      search: { type: 'function_search', in: { flow: '@keep.flow', storage: '@kept.storage' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
    })
    const answers = await Promise.all(Array.from({ length: 5 }, run))
    const lengths = answers.map(({ body }) => objectsOf(body).length)
    // On SQLite runs write one after the other; on PostgreSQL none has to wait for another.
    if (inject('engine') === 'sqlite') expect(lengths.toSorted()).toEqual([1, 2, 3, 4, 5])
    else expect(lengths.filter((length) => length < 1 || length > 5)).toEqual([])
    expect(await kept()).toHaveLength(5)
  })
})

describe('replies', () => {
  test('none: 204, one warning, and what was stored stays', async () => {
    const blueprint = await quoin.install(uri, keeping())
    const answer = await run()
    expect([answer.status, answer.text]).toEqual([204, ''])
    const entries = await log()
    expect(entries).toMatchObject([{ level: 'warn', blueprint, message: expect.stringContaining(uri) }])
    expect(entries[0]?.run).toMatch(/^[0-9a-f-]{36}$/)
    expect(await kept()).toHaveLength(1)
  })

  test('two: the first counts, the second is ignored with one warning, and the flow goes on', async () => {
    const blueprint = await quoin.install(uri, {
      ...keeping(),
      first: reply('@keep.flow', 201, 'first'),
      second: reply('@first.flow', 500, 'second'),
      after: create('@second.flow'),
    })
    expect(await run()).toMatchObject({ status: 201, body: 'first' })
    // The flow goes on while the reply is on its way.
    await expect.poll(kept, { timeout: 10_000 }).toHaveLength(2)
    const entries = await log()
    expect(entries).toMatchObject([
      { level: 'warn', blueprint, message: expect.stringContaining('second reply') },
    ])
  })

  test('204 has no body and is no flow without a reply', async () => {
    await quoin.install(uri, { ...keeping(), reply: reply('@keep.flow', 204) })
    const answer = await run()
    expect([answer.status, answer.text, await log()]).toEqual([204, '', []])
  })
})

test('a log block writes to the system log with run, blueprint and block', async () => {
  const blueprint = await quoin.install(uri, {
    ...keeping(),
    say: { type: 'function_console_log', in: { flow: '@keep.flow', value: '@on.body', level: 'warn' } },
    reply: reply('@say.flow', 200),
  })
  await quoin.send('POST', `/${uri}`, { body: { seen: [1] } })
  const [entry, ...more] = await log()
  const block = await blockOf(blueprint, 'function_console_log')
  expect(entry).toMatchObject({ level: 'warn', value: { seen: [1] }, blueprint, block })
  expect(isJsonObject(entry) && entry.run).toMatch(/^[0-9a-f-]{36}$/)
  expect(more).toEqual([])
})
