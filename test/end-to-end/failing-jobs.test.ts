/** Jobs that fail: their states, their writes, and how they are steered. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
/** Never replies. */
let silent: LocalServer
const asked = Promise.withResolvers<void>()
let name: string
let count = 0

beforeAll(async () => {
  silent = await startLocalServer(() => asked.resolve())
  fixture = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: '127.0.0.1', QUOIN_RUN_DEADLINE: '1000' })
})
afterAll(async () => {
  await fixture.close()
  await silent.close()
})
beforeEach(() => {
  name = `jobs-${count++}`
})

/** An endpoint that defers a function, which stores a document and then goes on with these blocks from `@keep.flow`. */
const deferring = (attempts: number, blocks: JsonObject): JsonObject => ({
  store: { type: 'storage', fields: { storage: name } },
  on: { type: 'on_startup_register_uri_post', in: { uri: name } },
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@on.flow', function: name, queue: name, attempts },
  },
  reply: { type: 'httpconnection_set_json', in: { flow: '@later.flow', code: 202 } },
  begin: { type: 'trigger_custom_function', fields: { name } },
  set: { type: 'mutations_set_custom_field', in: { field: 'by', value: 'job' } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@begin.flow', storage: '@store.storage', mutations: '@set.mutations' },
  },
  ...blocks,
})

/** Fails whenever it runs. */
const failing = {
  wrong: { type: 'value_default', in: { default: 'many' } },
  fail: {
    type: 'function_search',
    in: { flow: '@keep.flow', storage: '@store.storage', limit: '@wrong.value' },
  },
}

const defer = async () => expect((await fixture.send('POST', `/${name}`, { body: {} })).status).toBe(202)
const jobs = async () =>
  objectsOf(await fixture.manage('POST', '/queue/search', { filters: { queue: name } }))
const states = async () => (await jobs()).map(({ status, attempts }) => `${status} after ${attempts}`)
const become = (expected: readonly string[]) =>
  expect.poll(states, { timeout: 15_000, interval: 20 }).toEqual(expected)

describe('a job', () => {
  test('that throws is tried again, then a dead letter that says why; nothing it wrote stays', async () => {
    await fixture.install(name, deferring(2, failing))
    await defer()
    await become(['dead after 2'])
    expect(await fixture.documents(name)).toEqual([])
    const [dead] = await jobs()
    // With the pin that cannot be used.
    expect(dead?.error).toEqual(expect.stringMatching(/\blimit must be/))
    const errors = (await fixture.systemLog()).filter(({ level }) => level === 'error')
    expect(errors.length).toBeGreaterThan(0)
    // The way from a dead letter, and from what was logged of it, to the run and its block.
    const { run, blueprint, block } = objectOf(dead?.failed_in)
    expect(String(dead?.error)).toContain(`(run ${String(run)})`)
    expect(errors.find(({ message }) => String(message).endsWith('or remove it.'))).toMatchObject({
      ...{ run, blueprint, block },
    })
    expect(objectOf(await fixture.manage('GET', `/runs/${String(run)}`))).toMatchObject({
      ...{ blueprint, recorded_as: 'failed', error: { block } },
    })
    const blocks = objectsOf(await fixture.manage('GET', `/blueprints/${String(blueprint)}/blocks`))
    expect(blocks.find((one) => objectOf(one._meta).guid === block)).toMatchObject({ name: 'fail' })
  })

  test('that hangs is ended at its deadline, and does not hold up the next one', async () => {
    await fixture.install(
      name,
      deferring(1, {
        ask: { type: 'http_request', in: { flow: '@keep.flow', url: silent.url, timeout: 30 } },
      }),
    )
    await defer()
    await asked.promise
    const hanging = name
    name = `jobs-${count++}`
    await fixture.install(name, deferring(1, {}))
    await defer()
    await become(['done after 1'])
    expect(await fixture.documents(name)).toHaveLength(1)
    name = hanging
    await become(['dead after 1'])
  })

  test('that is dead runs again on request, also where fields have rules', async () => {
    await fixture.manage('POST', '/blueprintfields', { name: 'by', type: 'string', storage: name })
    const blueprint = await fixture.install(name, deferring(1, failing))
    await defer()
    await become(['dead after 1'])
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
    await fixture.install(`${name}, mended`, deferring(1, {}))
    const [{ _meta } = {}] = await jobs()
    const { guid } = Object(_meta)
    await fixture.manage('POST', `/queue/${guid}/requeue`)
    await become(['done after 1'])
    expect(await fixture.documents(name)).toMatchObject([{ by: 'job' }])
    const audited = await fixture.manage('POST', '/_system/auditlogs', {
      filters: { category: 'queue', guid },
    })
    expect(audited).toMatchObject([{ action: 'updated', user: { username: 'admin' } }])
    // Queues are steered there too.
    expect(await fixture.manage('PUT', `/queues/${name}`, { paused: true })).toMatchObject({ paused: true })
  })
})
