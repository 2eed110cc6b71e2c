import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  type TestQuoin,
} from '../../../../test/end-to-end/harness.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { textIn } from '../../../storage/document-fields.ts'
import { systemStorages } from '../../../storage/system-storages.ts'

let fixture: TestQuoin
const notes = (flow: string | string[], set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'done', set },
})

beforeAll(async () => {
  fixture = await openTestQuoin()
  await fixture.addUser('nobody', [])
  await fixture.addUser('viewer', ['waits_view'])
  await fixture.addUser('updater', ['waits_update', 'waits_view'])
  await fixture.addUser('remover', ['waits_remove', 'waits_view'])
  const get = (uri: string) => ({
    type: 'on_startup_register_uri_post',
    in: { uri },
    scopes: ['*public'],
  })
  await fixture.install('Waits', {
    time_get: get('time'),
    time: { type: 'wait', in: { flow: '@time_get.flow', for: '1d' }, fields: { title: 'A day' } },
    time_reply: { type: 'reply', in: { flow: '@time.now', value: '={ wait: time.wait }' } },
    time_done: notes('@time.flow', '={ id: body.id, end: "flow" }'),
    ask: get('approval'),
    approval: {
      type: 'wait_for_approval',
      in: { flow: '@ask.flow', title: 'Order', scopes: ['a'], fields: '={ Price: 5 }', for: '1d' },
    },
    ask_reply: {
      type: 'reply',
      in: { flow: '@approval.now', value: '={ wait: approval.wait, link: approval.link }' },
    },
    yes: notes(
      '@approval.approved',
      '={ id: body.id, end: "approved", by: approval.by.username, comment: approval.comment }',
    ),
    no: notes('@approval.rejected', '={ id: body.id, end: "rejected" }'),
    over: notes('@approval.timeout', '={ id: body.id, end: "timeout", by: approval.by }'),
    hook_get: get('request'),
    hook: { type: 'wait_for_webhook', in: { flow: '@hook_get.flow' } },
    hook_reply: { type: 'reply', in: { flow: '@hook.now', value: '={ wait: hook.wait }' } },
    gone_get: get('gone'),
    seen: notes('@gone_get.flow', '={ seen: body.id }'),
    gone: {
      type: 'wait_for_no_document',
      in: { flow: '@seen.flow', storage: 'done', where: '=doc.seen == body.id' },
    },
    gone_reply: { type: 'reply', in: { flow: '@gone.now', value: '={ wait: gone.wait }' } },
    none: notes('@gone.gone', '={ id: body.id, end: "gone" }'),
    got: notes('@hook.received', '={ id: body.id, end: "received", sent: hook.body }'),
  })
})
afterAll(() => fixture?.close())

let count = 0
let id: string
beforeEach(() => {
  count += 1
  id = `run ${count}`
})

const begin = async (kind: string) =>
  textIn(objectOf((await fixture.send('POST', `/${kind}`, { body: { id } })).body).wait)
const done = async () => (await fixture.documents('done')).filter((one) => one.id === id)
const path = (wait: string, more = '') => `/_system/waits/${wait}${more}`
const NOTHING = '01a2b3c4-0000-7000-8000-000000000000'
const jobsOf = async (wait: string) => {
  const jobs = objectsOf(
    await fixture.manage('POST', '/queue/search', { filters: { queue: '_waits' }, limit: 1000 }),
  )
  const read = await Promise.all(jobs.map((job) => fixture.manage('GET', `/queue/${guidOf(job)}`)))
  return read.filter((job) => JSON.stringify(job).includes(wait))
}

describe('are listed', () => {
  test('to those who hold waits_view, without tokens and values', async () => {
    const wait = await begin('approval')
    for (const [as, status] of [
      ['nobody', 403],
      ['viewer', 200],
    ] as const)
      for (const reply of [
        await fixture.send('POST', '/_system/waits/search', { as, body: { limit: 1000 } }),
        await fixture.send('GET', path(wait), { as }),
      ])
        expect(reply.status).toBe(status)
    const { body } = await fixture.send('GET', path(wait), { as: 'viewer' })
    expect(body).toMatchObject({
      ...{ kind: 'approval', state: 'waiting', title: 'Order', scopes: ['a'], user: null },
      details: { title: 'Order', fields: { Price: 5 } },
      until: expect.any(Number),
      ways: ['approved', 'rejected', 'timeout'],
    })
    expect(Object.keys(objectOf(body)).sort()).toEqual(
      [
        ...['_meta', 'block', 'blueprint', 'deployment', 'details', 'error', 'job', 'kind', 'run', 'scopes'],
        'state',
        ...['storage', 'title', 'until', 'user', 'version', 'ways'],
      ].sort(),
    )
  })

  test('by page, filter and count', async () => {
    for (const kind of ['time', 'time', 'request']) await begin(kind)
    const list = (body: JsonValue) => fixture.send('POST', '/_system/waits/search', { as: 'viewer', body })
    const times = objectsOf((await list({ filters: { kind: 'time' }, limit: 1 })).body)
    expect(times).toMatchObject([{ kind: 'time', title: 'A day' }])
    const counted = objectOf((await list({ filters: { kind: 'time' }, count: true })).body)
    expect(counted.count).toBeGreaterThanOrEqual(2)
    expect((await list({ filters: { token_hash: 'x' } })).status).toBe(400)
    expect((await list({ filters: { values: 'x' } })).status).toBe(400)
  })

  test('one that is not there is 404', async () => {
    for (const wait of [NOTHING, 'x'])
      expect((await fixture.send('GET', path(wait), { as: 'viewer' })).status).toBe(404)
  })
})

describe('are continued by hand', () => {
  test.each<[string, string, JsonObject, number]>([
    ['time', 'viewer', {}, 403],
    ['time', 'remover', {}, 403],
    ['time', 'updater', { way: 'approved' }, 400],
    ['time', 'updater', { way: 'elsewhere' }, 400],
    ['time', 'updater', { other: 1 }, 400],
    ['approval', 'updater', {}, 400],
    ['approval', 'updater', { way: 'received' }, 400],
    ['request', 'updater', { way: 'rejected' }, 400],
    ['gone', 'updater', { way: 'found' }, 400],
  ])('a %s not by %s with %j', async (kind, as, body, status) => {
    const wait = await begin(kind)
    expect((await fixture.send('POST', path(wait, '/continue'), { as, body })).status).toBe(status)
    expect((await fixture.send('GET', path(wait), { as: 'viewer' })).body).toMatchObject({ state: 'waiting' })
    expect(await done()).toEqual([])
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['time', {}, { end: 'flow' }],
    [
      'approval',
      { way: 'approved', comment: 'By phone' },
      { end: 'approved', by: 'updater', comment: 'By phone' },
    ],
    ['approval', { way: 'rejected' }, { end: 'rejected' }],
    ['approval', { way: 'timeout' }, { end: 'timeout' }],
    ['gone', { way: 'gone' }, { end: 'gone' }],
    ['request', { way: 'received', body: { paid: true } }, { end: 'received', sent: { paid: true } }],
  ])('a %s with %j, once', async (kind, body, end) => {
    const wait = await begin(kind)
    const reply = await fixture.send('POST', path(wait, '/continue'), { as: 'updater', body })
    expect([reply.status, reply.body]).toMatchObject([200, { state: 'resumed' }])
    const again = await fixture.send('POST', path(wait, '/continue'), { as: 'updater', body })
    expect([404, 409]).toContain(again.status)
    await expect.poll(done, { timeout: 10_000 }).toMatchObject([end])
    const [audited] = (await fixture.documents(systemStorages.auditLogs)).filter((one) => one.guid === wait)
    expect(audited).toMatchObject({ category: 'waits', user: { username: 'updater' } })
    expect(await done()).toHaveLength(1)
  })
})

describe('whose continuation failed', () => {
  const failing = (set: string) => ({
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'mended' }, scopes: ['*public'] },
    approval: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: 'Order', scopes: ['a'] } },
    reply: { type: 'reply', in: { flow: '@approval.now', value: '={ wait: approval.wait }' } },
    yes: notes('@approval.approved', set),
  })

  test('say why, and continue again on the corrected version with what was decided', async () => {
    const blueprint = await fixture.install(
      'Mended',
      failing('={ id: body.id, end: approval.by.username + 1 }'),
    )
    const wait = await begin('mended')
    const other = await begin('mended')
    const go = (as: string, body: JsonObject) => fixture.send('POST', path(wait, '/continue'), { as, body })
    await go('updater', { way: 'approved' })
    const shown = async () => objectOf((await fixture.send('GET', path(wait), { as: 'viewer' })).body)
    await expect.poll(async () => textIn((await shown()).error), { timeout: 10_000 }).toContain('takes two')
    const move = (as: string, body: JsonObject) => fixture.send('POST', '/_system/waits/move', { as, body })
    for (const as of ['nobody', 'viewer', 'remover']) {
      expect((await move(as, { blueprint })).status).toBe(403)
      expect((await go(as, { version: 'current' })).status).toBe(403)
    }
    expect((await move('updater', { blueprint: NOTHING })).status).toBe(409)
    expect((await move('updater', {})).status).toBe(400)
    const changed = await go('updater', { way: 'rejected', version: 'current' })
    expect([changed.status, changed.text]).toEqual([409, expect.stringContaining('approved already')])
    const blocks = objectsOf(await fixture.manage('POST', '/blueprintactions/search', { limit: 100 }))
    const bad = blocks.find(({ in_pins: pins }) => JSON.stringify(pins).includes('username + 1'))
    const pins = JSON.stringify(bad?.in_pins).replace(' + 1', '')
    await fixture.manage('PUT', `/blueprintactions/${guidOf(bad ?? {})}`, { in_pins: JSON.parse(pins) })
    await fixture.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
    await fixture.manage('POST', `/blueprints/deploy/${blueprint}`)
    const early = await fixture.send('POST', path(other, '/continue'), {
      as: 'updater',
      body: { way: 'approved', version: 'current' },
    })
    expect(early.status).toBe(400)
    const reported = await move('updater', { blueprint, dry_run: true })
    expect(reported.body).toEqual({ version: 2, moved: 2, continued: 0, kept: [], next: null })
    const moved = await move('updater', { blueprint, again: true })
    expect(moved.body).toEqual({ version: 2, moved: 2, continued: 1, kept: [], next: null })
    await expect.poll(done, { timeout: 10_000 }).toMatchObject([{ end: 'updater' }])
    expect(await done()).toHaveLength(1)
  })
})

describe('are cancelled', () => {
  test('by those who hold waits_remove, and never continue', async () => {
    for (const kind of ['time', 'approval', 'request']) {
      const wait = await begin(kind)
      expect((await fixture.send('DELETE', path(wait), { as: 'updater' })).status).toBe(403)
      expect(await jobsOf(wait)).toHaveLength(kind === 'request' ? 0 : 1)
      expect((await fixture.send('DELETE', path(wait), { as: 'remover' })).body).toEqual({
        guid: wait,
        removed: true,
      })
      expect((await fixture.send('DELETE', path(wait), { as: 'remover' })).status).toBe(404)
      expect(await jobsOf(wait)).toEqual([])
      const [audited] = (await fixture.documents(systemStorages.auditLogs)).filter((one) => one.guid === wait)
      expect(audited).toMatchObject({ action: 'deleted', user: { username: 'remover' } })
    }
    fixture.advance(2 * 86_400_000)
    const last = await begin('time')
    await fixture.send('POST', path(last, '/continue'), { as: 'updater' })
    await expect.poll(done, { timeout: 10_000 }).toMatchObject([{ end: 'flow' }])
    expect(await done()).toHaveLength(1)
  })
})
