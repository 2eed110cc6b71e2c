/** Requests that a flow refuses are kept with their values, few of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let shop: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture()
  shop = await fixture.install('Shop', {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'goods' }, scopes: ['*public'] },
    seen: { type: 'function_search', in: { flow: '@post.flow', storage: 'goods', limit: 5 } },
    check: { type: 'branch', in: { flow: '@seen.flow', condition: '=seen.total == 0 && body.price > 0' } },
    kept: { type: 'reply', in: { flow: '@check.true', value: 'kept' } },
    refused: {
      type: 'reply',
      in: { flow: '@check.false', code: '=body.code', value: '={ price: body.price }' },
    },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'goods/{id}' }, scopes: ['*public'] },
    find: { type: 'function_get_document', in: { flow: '@get.flow', storage: 'goods', guid: '=params.id' } },
    found: { type: 'reply', in: { flow: '@find.flow', value: '=find.document' } },
    list: { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['*public'] },
    search: { type: 'function_search', in: { flow: '@list.flow', storage: 'goods', limit: '=query.limit' } },
    listed: { type: 'reply', in: { flow: '@search.flow', value: '=search.total' } },
    gone: { type: 'on_startup_register_uri_get', in: { uri: 'gone' }, scopes: ['*public'] },
    said: { type: 'reply', in: { flow: '@gone.flow', code: 410, value: '=query.at' } },
    broken: { type: 'on_startup_register_uri_get', in: { uri: 'broken' }, scopes: ['*public'] },
    count: { type: 'function_search', in: { flow: '@broken.flow', storage: 'goods', limit: '=0 - 5' } },
    counted: { type: 'reply', in: { flow: '@count.flow', value: 1 } },
  })
})
afterAll(() => fixture.close())

const refuse = (code: number) =>
  fixture.quoin.send('POST', '/goods', { body: { price: -1, code, password: 'hunter2 of Ada' } })
const refusals = async (query = '') =>
  (await shop.runs(query)).filter(({ recorded_as: as }) => as === 'refused')
const whole = async (run: JsonObject | undefined) =>
  objectOf(await fixture.quoin.manage('GET', `/runs/${String(run?.guid)}`))

test('a request that is answered is not kept', async () => {
  expect((await fixture.quoin.send('POST', '/goods', { body: { price: 1 } })).status).toBe(200)
  expect(await shop.runs()).toEqual([])
})

test('a reply with a status from 400 on is kept with its request and values, secrets masked', async () => {
  expect((await refuse(422)).status).toBe(422)
  const [listed, ...others] = await shop.runs()
  expect(others).toEqual([])
  expect(listed).toMatchObject({
    ...{ recorded_as: 'refused', status: 'ended', label: 'POST goods', reply: { status: 422 }, error: null },
  })
  const run = await whole(listed)
  expect(run.request).toMatchObject({ method: 'POST', body: { price: -1 } })
  expect(run.reply).toMatchObject({ status: 422, body: { price: -1 } })
  expect(objectsOf(run.steps).find(({ block }) => block === shop.block('seen'))?.out).toMatchObject({
    total: 0,
  })
  expect(JSON.stringify(run)).not.toContain('hunter2')
})

test.each([
  ['a way that is not wired', '/goods/nine', 404, 'GET goods/{id}', undefined],
  ['a value that does not fit', '/goods?limit=-5', 400, 'GET goods', 'search'],
])('%s is kept', async (_, path, status, label, block) => {
  expect((await fixture.quoin.send('GET', path)).status).toBe(status)
  const found = (await refusals()).find((run) => run.label === label)
  expect(found).toMatchObject({ status: 'ended', reply: { status } })
  expect(found?.error).toMatchObject({ block: block === undefined ? null : shop.block(block) })
  if (block !== undefined) {
    const { steps } = await whole(found)
    expect(objectsOf(steps).at(-1)).toMatchObject({
      block: shop.block(block),
      error: expect.stringContaining('limit'),
    })
  }
})

test('a refusal that is sent from the cache is kept once', async () => {
  const answers = [
    await fixture.quoin.send('GET', '/gone?at=1'),
    await fixture.quoin.send('GET', '/gone?at=1'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([410, 410])
  expect((await refusals()).filter(({ label }) => label === 'GET gone')).toHaveLength(1)
})

test('of a trigger and status there is one a minute', async () => {
  const before = (await refusals()).length
  for (const code of [422, 422, 409, 409, 422]) await refuse(code)
  expect((await refusals()).length).toBe(before + 1)
  fixture.quoin.advance(61_000)
  await refuse(422)
  await refuse(422)
  expect((await refusals()).length).toBe(before + 2)
})

test('what is refused before the flow runs is no run', async () => {
  const before = (await shop.runs()).length
  expect(
    (
      await fixture.quoin.send('POST', '/goods', {
        body: 'no object',
        headers: { 'content-type': 'text/odd' },
      })
    ).status,
  ).toBe(415)
  expect((await shop.runs()).length).toBe(before)
})

test('refusals push out nothing but each other, and are errors in the list', async () => {
  expect((await fixture.quoin.send('GET', '/broken')).status).toBe(500)
  for (let code = 423; code < 423 + 30; code += 1) {
    await refuse(code)
    if (code % 8 === 0) fixture.quoin.advance(2_000)
  }
  const runs = await shop.runs('&limit=200')
  expect(runs.filter(({ recorded_as: as }) => as === 'failed')).toHaveLength(1)
  expect(runs.filter(({ recorded_as: as }) => as === 'refused')).toHaveLength(20)
  expect(await refusals('&failed=true&limit=200')).toHaveLength(20)
  expect(await refusals('&status=failed')).toEqual([])
})

test('a traced refusal is kept once, as a trace', async () => {
  fixture.quoin.advance(61_000)
  await shop.trace(true)
  await refuse(418)
  await shop.trace(false)
  const [last] = await shop.runs()
  expect(last).toMatchObject({ recorded_as: 'traced', reply: { status: 418 } })
  expect((await refusals()).filter(({ reply }) => objectOf(reply).status === 418)).toEqual([])
})
