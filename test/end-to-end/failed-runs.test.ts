/** Runs that fail are kept with their values, without tracing. */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { objectOf, objectsOf } from './harness.ts'
import { openTracingFixture, soon, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let failing: TracedBlueprint

beforeAll(async () => {
  fixture = await openTracingFixture({ QUOIN_SECRETS_KEY: '0f'.repeat(32) })
  await fixture.quoin.manage('POST', '/_system/secrets', { name: 'SHOP', value: 'the key of the shop' })
  failing = await fixture.install('Failing', {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: 'orders', set: '={ item: body.item, password: body.password }' },
    },
    search: {
      type: 'function_search',
      in: { flow: '@create.flow', storage: 'orders', limit: '=create.document.item == "bad" ? -5 : 5' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '=search.total' } },
    hook: { type: 'on_startup_register_uri_post', in: { uri: 'hooks' }, scopes: ['*public'] },
    check: {
      type: 'check_signature',
      in: { flow: '@hook.flow', secret: 'SHOP' },
      fields: { sender: 'github' },
    },
    taken: { type: 'reply', in: { flow: '@check.valid', value: 1 } },
    get: { type: 'on_startup_register_uri_get', in: { uri: 'orders' }, scopes: ['*public'] },
    call: {
      type: 'function_custom_execute',
      in: { flow: '@get.flow', function: 'unknown', item: '=query.item', password: '=query.password' },
      fields: { parameters: ['item', 'password'] },
    },
    changed: { type: 'storage_event', in: { storage: 'orders', events: ['on_created'], attempts: 1 } },
    again: {
      type: 'function_search',
      in: { flow: '@changed.flow', storage: 'orders', limit: '=changed.document.item == "late" ? -5 : 5' },
    },
  })
})
afterAll(() => fixture.close())

const send = (item: string) =>
  fixture.quoin.send('POST', '/orders', { body: { item, password: 'hunter2 of Ada' } })
const whole = async (run: JsonObject | undefined) =>
  objectOf(await fixture.quoin.manage('GET', `/runs/${String(run?.guid)}`))
const outOf = (run: JsonObject, name: string) =>
  objectsOf(run.steps).find(({ block, error }) => block === failing.block(name) && error === null)?.out

test('a request that fails is kept with what its blocks gave; one that succeeds is not', async () => {
  expect((await send('good')).status).toBe(200)
  const answer = await send('bad')
  expect(answer.status).toBe(500)
  const [listed, ...others] = await failing.runs()
  expect(others).toEqual([])
  expect(listed).toMatchObject({
    guid: objectOf(answer.body).run,
    recorded_as: 'failed',
    status: 'failed',
    trigger_type: 'http',
    label: 'POST orders',
    reply: { status: 500 },
    error: { block: failing.block('search'), message: expect.stringContaining('limit') },
  })
  const run = await whole(listed)
  expect(run.request).toMatchObject({ method: 'POST', body: { item: 'bad' } })
  expect(outOf(run, 'create')).toMatchObject({ document: { item: 'bad' } })
  expect(objectsOf(run.steps).at(-1)).toMatchObject({ block: failing.block('search'), next: null })
  expect(JSON.stringify(run)).not.toContain('hunter2')
})

test('a secret that the blueprint uses is not kept, under whatever name it comes up', async () => {
  const body = { item: 'bad', remark: 'it is the key of the shop' }
  const answer = await fixture.quoin.send('POST', '/orders', { body })
  const run = await whole({ guid: objectOf(answer.body).run ?? null })
  expect(run).toMatchObject({ recorded_as: 'failed', request: { body: { item: 'bad' } } })
  expect(JSON.stringify(run)).not.toContain('key of the shop')
})

test('the block that failed is kept with what its pins got, secrets masked', async () => {
  const answer = await fixture.quoin.send('GET', '/orders?item=tea&password=hunter2+of+Ada')
  expect(answer.status).toBe(500)
  const run = await whole({ guid: objectOf(answer.body).run ?? null })
  expect(objectsOf(run.steps).at(-1)).toMatchObject({
    ...{ block: failing.block('call'), error: expect.stringContaining('unknown') },
    in: { function: 'unknown' },
  })
  expect(JSON.stringify(run)).not.toContain('hunter2')
})

test('an event that fails is kept with its document', async () => {
  expect((await send('late')).status).toBe(200)
  const run = await soon(async () =>
    (await failing.runs()).find(({ trigger_type }) => trigger_type === 'storage'),
  )
  const read = await whole(run)
  expect(read).toMatchObject({ recorded_as: 'failed', status: 'failed', request: null })
  expect(outOf(read, 'changed')).toMatchObject({ document: { item: 'late' } })
})

test('a traced run that fails is kept once, as a trace', async () => {
  await failing.trace(true)
  const answer = await send('bad')
  await failing.trace(false)
  const runs = (await failing.runs()).filter(({ guid }) => guid === objectOf(answer.body).run)
  expect(runs.map(({ recorded_as }) => recorded_as)).toEqual(['traced'])
})

test('a run that began with a signed webhook runs again, after its time too, and so does one that was refused', async () => {
  const body = '{"item":"tea"}'
  const at = '1700000000'
  const hook = await fixture.install('Signed', {
    hook: { type: 'on_startup_register_uri_post', in: { uri: 'signed' }, scopes: ['*public'] },
    check: {
      type: 'check_signature',
      in: { flow: '@hook.flow', secret: 'SHOP', tolerance: 10 },
      fields: { sender: 'stripe' },
    },
    call: { type: 'function_custom_execute', in: { flow: '@check.valid', function: 'unknown' } },
    refused: { type: 'reply', in: { flow: '@check.invalid', code: 422, value: '=check.reason' } },
  })
  const send = (time: string, content = body) => {
    const v1 = createHmac('sha256', 'the key of the shop').update(`${time}.${content}`).digest('hex')
    const headers = { 'stripe-signature': `t=${time},v1=${v1}`, 'content-type': 'application/json' }
    return fixture.quoin.send('POST', '/signed', { headers, body: JSON.parse(content) })
  }
  const now = String(Math.floor(Date.now() / 1000))
  expect((await send(now)).status).toBe(500)
  expect((await send(at)).body).toBe('too_old')
  await hook.trace(true)
  expect((await send(now, '{"password":"hunter2 of Ada"}')).status).toBe(500)
  await hook.trace(false)
  const check = hook.block('check')
  for (const [as, finding, raw] of [
    ['failed', 'valid', body],
    ['refused', 'too_old', body],
    ['traced', 'valid', undefined],
  ] as const) {
    const run = await whole(await soon(async () => (await hook.runs()).find((one) => one.recorded_as === as)))
    const { raw_body: kept, signatures } = objectOf(run.request)
    expect([kept, signatures]).toEqual([raw, { [check]: [finding] }])
    expect(JSON.stringify(run)).not.toContain('hunter2')
    const again = objectOf(await fixture.quoin.manage('POST', `/runs/${String(run.guid)}/replay`))
    const steps = objectsOf(again.steps)
    const next = finding === 'valid' ? 'valid' : 'invalid'
    expect(steps.find(({ block }) => block === check)).toMatchObject({ next, error: null })
    expect(again.compared).toMatchObject({ status: finding === 'valid' ? [500, 500] : [422, 422] })
  }
})

test('a burst of failures is answered whole and kept in part', async () => {
  const before = (await failing.runs()).length
  const answers = await Promise.all(Array.from({ length: 60 }, () => send('bad')))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 500))
  const kept = (await failing.runs()).length - before
  expect(kept).toBeGreaterThan(0)
  expect(kept).toBeLessThan(47)
})
