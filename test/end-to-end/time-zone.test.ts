/** Times that are typed into forms are those that tables, forms and files show: in the time zone of the cluster, or of the user. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { openVisitor, type Visitor } from '../page-visitor.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let address: string

const blocks: JsonObject = {
  page: { type: 'state_page', in: { url: 'visits', title: 'Visits' }, scopes: ['*public'] },
  one: {
    type: 'function_search_single_result',
    in: { flow: '@page.flow', storage: 'visits', sort: '_meta.cms desc' },
  },
  form: {
    type: 'state_form',
    in: {
      form_id: 'visit',
      storage: 'visits',
      inputs: [{ field: 'at', type: 'date_time' }],
      document: '@one.document',
    },
  },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@form.submit', storage: 'visits', set: '=form.values' },
  },
  table: {
    type: 'state_advanced_datatable',
    in: {
      state: '@form.state',
      storage: 'visits',
      columns: [
        { field: 'at', kind: 'date_time', filter: 'date' },
        { field: 'hour', label: 'Calculated', format: '=format(doc.at, "HH.mm")' },
      ],
    },
  },
  show: { type: 'state_render_page', in: { flow: ['@one.flow', '@one.not_found'], state: '@table.state' } },
}

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_TIME_ZONE: 'Europe/Berlin' })
  await quoin.manage('POST', '/blueprintfields', { name: 'at', type: 'instant', storage: 'visits' })
  await quoin.install('Visits', blocks)
  const guid = await quoin.addUser('ann', [])
  await quoin.manage('PUT', `/users/${guid}`, { timezone: 'America/New_York' })
  await quoin.addUser('bob', [])
  address = await quoin.quoin.server.listen()
})
afterAll(() => quoin.close())

async function visitorAs(user?: string): Promise<Visitor> {
  const visitor = openVisitor(address)
  if (user !== undefined) visitor.setCookie('access_token', await quoin.tokenOf(user))
  return visitor
}

async function sent(visitor: Visitor, at: string): Promise<unknown> {
  expect((await visitor.submit(await visitor.get('/visits'), 'visit', { at })).status).toBe(303)
  return (await quoin.documents('visits')).at(-1)?.at
}

test.each([
  [undefined, '2026-03-10T08:00', '2026-03-10T07:00:00.000Z'],
  [undefined, '2026-07-10T08:00:30', '2026-07-10T06:00:30.000Z'],
  // Clocks are moved on over it: as much later.
  [undefined, '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  // It is there twice: the first.
  [undefined, '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ['bob', '2026-03-10T08:00', '2026-03-10T07:00:00.000Z'],
  ['ann', '2026-03-10T03:00', '2026-03-10T07:00:00.000Z'],
])('%s types %s, and %s is stored', async (user, typed, stored) => {
  expect(await sent(await visitorAs(user), typed)).toBe(stored)
})

test.each([['2026-03-10T25:00'], ['2026-02-30T08:00']])(
  'a time that does not exist is refused: %s',
  async (at) => {
    const visitor = await visitorAs()
    expect((await visitor.submit(await visitor.get('/visits'), 'visit', { at })).status).toBe(422)
  },
)

test.each([
  [undefined, '8:00 AM', '2026-03-10T08:00', '08.00', '2026-03-10T08:00:00+01:00'],
  ['ann', '3:00 AM', '2026-03-10T03:00', '03.00', '2026-03-10T03:00:00-04:00'],
])(
  '%s reads %s in the table, the form, what is calculated and the file',
  async (user, shown, typed, cell, written) => {
    const visitor = await visitorAs(user)
    await sent(visitor, typed)
    const page = await visitor.get('/visits?visits.from.at=2026-03-10&visits.to.at=2026-03-10')
    expect(page.text.replaceAll('\u202f', ' ')).toContain(`Mar 10, 2026, ${shown}`)
    expect(page.text).toContain(cell)
    expect(page.form('visit').input('at')).toContain(`value="${typed}"`)
    const csv = await visitor.get('/visits?_export=visits')
    expect(csv.html).toContain(`${written},${cell}`)
  },
)

test('a filter of days asks for days of the visitor', async () => {
  const visitor = await visitorAs()
  await sent(visitor, '2027-01-01T00:30')
  const found = async (day: string) =>
    (await visitor.get(`/visits?visits.from.at=${day}&visits.to.at=${day}`)).text.includes('12:30')
  expect([await found('2027-01-01'), await found('2026-12-31')]).toEqual([true, false])
})
