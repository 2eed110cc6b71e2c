/** Block `limit` in deployed flows: what stands on its own, and what stays a unit of work behind it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type Answer, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin.close())

const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] })
const limit = (flow: string, more: JsonObject = {}) => ({
  type: 'limit',
  in: { flow, key: '=ask.body.key', limit: 3, ...more },
})
const statuses = (answers: readonly Answer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]),
  )
const atOnce = (count: number, path: string, body: JsonObject) =>
  Promise.all(Array.from({ length: count }, () => quoin.send('POST', path, { body })))

test('a key that is missing is the fault of the request', async () => {
  await quoin.install('Missing', { ask: post('missing'), limit: limit('@ask.flow') })
  expect(await quoin.send('POST', '/missing', { body: {} })).toMatchObject({ status: 400 })
})

test('of 50 requests at once 3 pass, also where each run that passes fails', async () => {
  await quoin.install('Failing', {
    ask: post('failing'),
    limit: limit('@ask.flow'),
    fail: { type: 'fail', in: { flow: '@limit.flow', status: 418, message: 'no' } },
    busy: { type: 'reply', in: { flow: '@limit.exceeded', code: 429, value: '=limit.retry_after' } },
  })
  const answers = await atOnce(50, '/failing', { key: 'a' })
  expect(statuses(answers)).toEqual({ 418: 3, 429: 47 })
  const [refused] = answers.filter(({ status }) => status === 429)
  expect(refused?.body).toBeGreaterThan(55)
  expect(statuses(await atOnce(2, '/failing', { key: 'b' }))).toEqual({ 418: 2 })
  quoin.advance(60_000)
  expect(statuses(await atOnce(50, '/failing', { key: 'a' }))).toEqual({ 418: 3, 429: 47 })
})

test('behind the limit the flow is a unit of work: what it has read holds when it writes', async () => {
  await quoin.install('Seats', {
    ask: post('seats'),
    limit: limit('@ask.flow', { limit: 20 }),
    seats: { type: 'storage', fields: { storage: 'seats' } },
    taken: { type: 'function_search', in: { flow: '@limit.flow', storage: '@seats.storage', limit: 100 } },
    free: { type: 'branch', in: { flow: '@taken.flow', condition: '=taken.documents.length < 2' } },
    take: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@free.true', storage: '@seats.storage', mutations: '@set.mutations' },
    },
    set: { type: 'mutations_set_custom_field', in: { field: 'by', value: 'a guest' } },
    done: { type: 'reply', in: { flow: '@take.flow', code: 201, value: '=limit.remaining' } },
    full: { type: 'reply', in: { flow: '@free.false', code: 409, value: 'full' } },
  })
  const answers = await atOnce(30, '/seats', { key: 'all' })
  expect(statuses(answers)).toEqual({ 201: 2, 409: 18, 429: 10 })
  expect(await quoin.documents('seats')).toHaveLength(2)
  expect(await quoin.documents('_limits')).toContainEqual(expect.objectContaining({ count: 20 }))
})

test('what the run wrote before the limit is committed, and waits for no lock of its own', async () => {
  await quoin.install('Written first', {
    ask: post('written-first'),
    notes: { type: 'storage', fields: { storage: 'notes' } },
    set: { type: 'mutations_set_custom_field', in: { field: 'text', value: 'written' } },
    write: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@ask.flow', storage: '@notes.storage', mutations: '@set.mutations' },
    },
    limit: limit('@write.flow', { limit: 1 }),
    done: { type: 'reply', in: { flow: '@limit.flow', code: 201 } },
  })
  expect(statuses(await atOnce(30, '/written-first', { key: 'a' }))).toEqual({ 201: 1, 429: 29 })
  expect(await quoin.documents('notes')).toHaveLength(30)
})

test('429 of a way that is not wired says when to come back, and the OpenAPI document knows it', async () => {
  const refused = await quoin.send('POST', '/written-first', { body: { key: 'a' } })
  expect([refused.status, refused.body]).toEqual([429, { error: 'Too many requests. Wait and try again.' }])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50)
  const { text } = await quoin.send('GET', '/openapi.json', { as: 'admin' })
  const { paths } = JSON.parse(text)
  const path = Object.keys(paths).find((one) => one.endsWith('/written-first')) ?? ''
  expect(paths[path].post.responses['429'].description).toContain('one key')
})

test('asking with an amount of 0 counts nothing', async () => {
  await quoin.install('Asked twice', {
    ask: post('asked'),
    limit: limit('@ask.flow', { limit: 1, amount: 0 }),
    count: limit('@limit.flow', { limit: 1, name: 'asked' }),
    done: { type: 'reply', in: { flow: '@count.flow', code: 204 } },
  })
  expect(statuses(await atOnce(5, '/asked', { key: 'a' }))).toEqual({ 204: 1, 429: 4 })
})
