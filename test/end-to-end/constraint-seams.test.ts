/** Where constraints and permissions meet what is sent again, and the buttons and rows of pages. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { openVisitor } from '../page-visitor.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const message = 'The end must not be before the start.'
const constraint = { rule: 'doc.end >= doc.start', message, field: 'end' }
const open = { scopes: ['*public'] }
const right = { start: '2026-06-01', end: '2026-06-10' }
const wrong = { start: '2026-06-10', end: '2026-06-01' }

let quoin: TestQuoin
let storage = ''
let origin = ''
let keys = 0

const post = (uri: string, fields: JsonObject, more: JsonObject = {}): JsonObject => ({
  [uri]: { type: 'on_startup_register_uri_post', in: { uri, ...more }, fields, scopes: ['*loggedin'] },
  [`${uri}_make`]: {
    type: 'function_create_document_from_mutations',
    in: { flow: `@${uri}.flow`, storage: 'trips', set: '=pick(body, ["start", "end"])' },
    fields: { as: 'user' },
  },
  [`${uri}_reply`]: {
    type: 'reply',
    in: { flow: `@${uri}_make.flow`, value: `=${uri}_make.document`, code: 201 },
  },
})
/** A page whose part sets the end of the trip in its address, or of its row, before the start. */
const spoil = (way: string, event: string, part: JsonObject, guid: string): JsonObject => ({
  [`${way}_page`]: { type: 'state_page', in: { url: `${way}/{guid}` }, ...open },
  [way]: part,
  [`${way}_show`]: { type: 'state_render_page', in: { flow: `@${way}_page.flow`, state: `@${way}.state` } },
  [`${way}_change`]: {
    type: 'function_update_document_mutations',
    in: { flow: `@${way}.${event}`, storage: 'trips', guid, set: { end: '2026-01-01' } },
  },
  [`${way}_done`]: { type: 'state_redirect', in: { flow: `@${way}_change.flow`, url: '/done' } },
})

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'trips' }))
  for (const name of ['start', 'end'])
    await quoin.manage('POST', '/blueprintfields', { storage: 'trips', name, type: 'date' })
  for (const name of ['ann', 'bob']) await quoin.addUser(name, [])
  await quoin.install('Trips', {
    ...post('keyed', { idempotent: true }),
    ...post('calculated', {}, { idempotency_key: '=body.id' }),
    ...spoil(
      'press',
      'click',
      { type: 'state_button', in: { label: 'Spoil', kind: 'action' } },
      '=params.guid',
    ),
    ...spoil(
      'rows',
      'row_action',
      {
        type: 'state_advanced_datatable',
        in: {
          storage: 'trips',
          table_id: 't',
          columns: ['start'],
          actions: [{ name: 'spoil', label: 'Spoil' }],
        },
      },
      '=rows.guid',
    ),
  })
  origin = await quoin.quoin.server.listen()
})
afterAll(() => quoin?.close())
beforeEach(async () => {
  await rules([constraint], {})
  for (const { _meta } of await quoin.documents('trips'))
    await quoin.manage(
      'DELETE',
      `/_system/storages/${storage}/documents/${guidOf({ _meta: _meta ?? null })}?permanent=true`,
    )
})

const rules = (constraints: readonly JsonObject[], permissions: JsonObject) =>
  quoin.manage('PUT', `/_system/storages/${storage}`, { constraints: [...constraints], rules: permissions })
const trips = async () => (await quoin.documents('trips')).length

describe.each(['keyed', 'calculated'])('a request that is sent again, %s', (uri) => {
  const ask = (id: string, trip: JsonObject, as = 'ann') =>
    quoin.send('POST', `/${uri}`, {
      ...{ as, body: { id, ...trip } },
      ...(uri === 'keyed' && { headers: { 'idempotency-key': id } }),
    })
  const isReplay = ({ headers }: Awaited<ReturnType<typeof ask>>) => headers['idempotent-replay'] === 'true'
  const key = () => `key-${keys++}`

  test('what a constraint refuses is not kept: it is stored when the constraint is gone', async () => {
    const id = key()
    for (let time = 0; time < 2; time++) {
      const refused = await ask(id, wrong)
      expect([refused.status, refused.body, isReplay(refused)]).toEqual([
        400,
        { error: message, fields: { end: message } },
        false,
      ])
    }
    expect(await trips()).toBe(0)
    await rules([], {})
    expect((await ask(id, wrong)).status).toBe(201)
    expect(await trips()).toBe(1)
  })

  test('what was stored is answered as before when a constraint would refuse it now', async () => {
    await rules([], {})
    const id = key()
    const first = await ask(id, wrong)
    await rules([constraint], {})
    const again = await ask(id, wrong)
    expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true])
    expect(await trips()).toBe(1)
  })

  test('what a rule forbids is not kept, and the reply of one user goes to no other', async () => {
    await rules([], { create: 'user.username == "bob"' })
    const id = key()
    const refused = await ask(id, right)
    expect([refused.status >= 400, isReplay(refused), await trips()]).toEqual([true, false, 0])
    await rules([], { see: 'doc._meta.guid == "none"' })
    const stored = await ask(id, right)
    expect(await trips()).toBe(1)
    const other = await ask(id, right, 'bob')
    expect([isReplay(other), other.text === stored.text, await trips()]).toEqual([false, false, 2])
  })
})

test.each([
  ['press', undefined],
  ['rows', 't'],
])('a page says what a constraint refuses at once, and changes nothing: %s', async (way, form) => {
  const made = await quoin.manage('POST', `/_system/storages/${storage}/documents`, right)
  const visitor = openVisitor(origin)
  const page = await visitor.get(`/${way}/${guidOf(made)}`)
  const refused = await visitor.submit(page, form, {}, { button: 'Spoil' })
  expect([refused.status, refused.text.includes(message)]).toEqual([422, true])
  const [stored] = await quoin.documents('trips')
  expect(objectOf(stored)).toEqual(made)
})
