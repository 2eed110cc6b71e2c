/** The data table: sorted, searched, filtered and paged by its address, on the server. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../src/shared/json.ts'
import { guidOf } from '../../end-to-end/harness.ts'
import type { SeenPage } from '../../page-visitor.ts'
import { allRefused, needs, refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { object, setAll, storage } from '../flow-blocks.ts'
import { h1, page, show, stranger } from '../page-blocks.ts'

const two = (n: number) => String(n).padStart(2, '0')
const rows: readonly JsonObject[] = Array.from({ length: 30 }, (_, n) => ({
  name: `Row ${two(n)}`,
  n,
  kind: n % 3 === 0 ? 'third' : 'other',
  paid: n % 2 === 0,
  due: `2026-01-${two(n + 1)}`,
  secret: `hidden${n}`,
  mine: n < 29,
}))
const columns = [
  { field: 'name', sortable: true, filter: 'text' },
  { field: 'n', label: 'How many', kind: 'number', sortable: true, filter: 'number' },
  { field: 'kind', filter: 'choice', options: ['third', 'other'] },
  { field: 'paid', kind: 'boolean', filter: 'boolean' },
  { field: 'due', kind: 'date', filter: 'date' },
]

/** The first cells of its rows. */
const rowsOf = ({ html }: SeenPage): string[] =>
  [...html.matchAll(/<th\b[^>]*scope="row"[^>]*>(.*?)<\/th>/gs)].map(([, cell = '']) =>
    cell.replace(/<[^>]*>/g, '').trim(),
  )

/** A page with a table: of the rows that are mine, or of all. */
async function tablePage(fixture: ContractFixture, pins: JsonObject, more: JsonObject = {}, mine = true) {
  const [url, kept] = [fixture.name(), fixture.name()]
  await fixture.fill(kept, rows)
  await fixture.run({
    kept: storage(kept),
    page: page(url),
    above: h1('Above'),
    query: { type: 'query_bool_term_fields', in: { field: 'mine', value: true } },
    table: {
      type: 'state_advanced_datatable',
      in: {
        state: '@above.state',
        storage: '@kept.storage',
        columns,
        ...(mine && { query: '@query.query' }),
        ...pins,
      },
    },
    show: show('@table.state'),
    ...more,
  })
  const visitor = stranger(fixture)
  /** Parameters of the table, without its name before each. */
  const get = (query = '') => visitor.get(`/${url}${query.replace(/([?&])(?=\w)/g, `$1${kept}.`)}`)
  return { url, kept, visitor, get, seen: async (query: string) => rowsOf(await get(query)) }
}

const showsTable: Scenario = async (fixture) => {
  const { get, seen, visitor } = await tablePage(fixture, { page_size: 10 })
  const first = await get('?sort=name')
  expect(rowsOf(first)).toEqual(rows.slice(0, 10).map(({ name }) => name))
  expect(first.text).toMatch(/Above.*Name.*How many.*Kind.*Paid.*Due/)
  expect(first.html).not.toMatch(/hidden1|Row 29/)
  expect((await seen('?sort=-n')).slice(0, 2)).toEqual(['Row 28', 'Row 27'])
  // A view is its address: the next page is a link, and keeps the order.
  expect(rowsOf(await visitor.get(first.link('Next')))[0]).toBe('Row 10')
  expect(await seen('?sort=name&page=3')).toEqual(rows.slice(20, 29).map(({ name }) => name))
  await narrows(seen)
  await hearsOnlyColumns(get)
  await linksRows(fixture)
  await rowActions(fixture)
  await plainTable(fixture)
  await refusesTables(fixture)
}

/** Searched and filtered, one column at a time. */
async function narrows(seen: (query: string) => Promise<string[]>): Promise<void> {
  expect(await seen('?q=row%2017')).toEqual(['Row 17'])
  expect(await seen('?q=nothing')).toEqual([])
  expect(await seen('?from.n=27&sort=name')).toEqual(['Row 27', 'Row 28'])
  expect(await seen('?to.n=1&sort=-name')).toEqual(['Row 01', 'Row 00'])
  expect(await seen('?is.name=07')).toEqual(['Row 07'])
  expect((await seen('?is.kind=third&sort=name')).slice(0, 3)).toEqual(['Row 00', 'Row 03', 'Row 06'])
  expect((await seen('?is.paid=false&sort=name')).slice(0, 2)).toEqual(['Row 01', 'Row 03'])
  expect(await seen('?from.due=2026-01-28&sort=name')).toEqual(['Row 27', 'Row 28'])
}

/** What is no column, or does not offer it, is neither sorted, searched nor filtered by, and never shown. */
async function hearsOnlyColumns(get: (query?: string) => Promise<SeenPage>): Promise<void> {
  const plain = rowsOf(await get())
  expect(plain).toHaveLength(10)
  for (const query of ['?sort=secret', '?sort=kind', '?is.secret=hidden1', '?is.n=1', '?cols=secret'])
    expect([query, rowsOf(await get(query))]).toEqual([query, plain])
  expect(rowsOf(await get('?q=hidden7'))).toEqual([])
}

/** The first cell leads where `row_link` says, with the document's values in it. */
async function linksRows(fixture: ContractFixture): Promise<void> {
  const { get, kept } = await tablePage(fixture, { row_link: '/open/{_meta.guid}/{name}' })
  const [document] = (await fixture.documents(kept)).filter(({ n }) => n === 28)
  const page = await get('?sort=-n')
  expect(page.link('Row 28')).toBe(`/open/${guidOf(document)}/Row%2028`)
}

async function rowActions(fixture: ContractFixture): Promise<void> {
  const done = fixture.name()
  const actions = [
    { name: 'sell', label: 'Sell it' },
    { name: 'drop', confirm: 'Drop all?', tone: 'danger', for: 'rows' },
    'wave',
  ]
  const { get, kept, visitor } = await tablePage(
    fixture,
    { page_size: 2, actions },
    {
      done: storage(done),
      note: object({ action: '@table.action', guid: '@table.guid', guids: '@table.guids' }),
      set: setAll('@note.object'),
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@table.row_action', storage: '@done.storage', mutations: '@set.mutations' },
      },
    },
  )
  const guids = (await fixture.documents(kept)).map(guidOf)
  const seen = await get('?sort=name')
  const notes = async () => (await fixture.documents(done)).map(({ _meta, ...note }) => note)
  expect(await notes()).toEqual([])
  expect((await visitor.submit(seen, kept, {}, { button: 'Sell it' })).status).toBe(303)
  expect(await notes()).toEqual([{ action: 'sell', guid: guids[0], guids: [guids[0]] }])
  const picked = { _rows: [guids[0] ?? '', guids[1] ?? ''] }
  const again = await get('?sort=name')
  expect((await visitor.submit(again, kept, picked, { button: 'Drop' })).status).toBe(303)
  expect((await notes())[1]).toMatchObject({ action: 'drop', guids: guids.slice(0, 2) })
  expect(seen.html).toContain('Drop all?')
  expect(seen.text).toContain('Wave')
  // A row that the table's query does not find is none of its rows.
  await visitor.submit(await get(), kept, { _rows: [guids[29] ?? ''] }, { button: 'Drop' })
  expect(await notes()).toHaveLength(2)
}

/** Names of fields are columns too; 25 rows; no search box where it is not wanted, and one unless it is said. */
async function plainTable(fixture: ContractFixture): Promise<void> {
  const plain = await tablePage(fixture, { columns: ['name', 'n'], searchable: false })
  const page = await plain.get()
  expect(rowsOf(page)).toHaveLength(25)
  expect(page.html).not.toContain('role="search"')
  expect(await plain.seen('?q=nothing')).toHaveLength(25)
  const searched = await tablePage(fixture, { columns: ['name', 'n'] })
  expect((await searched.get()).html).toContain('role="search"')
  const all = await tablePage(fixture, { page_size: 50 }, {}, false)
  expect(await all.seen('')).toHaveLength(30)
}

async function refusesTables(fixture: ContractFixture): Promise<void> {
  const wrong: readonly JsonObject[] = [
    {},
    { columns: [] },
    { columns: ['name', 'name'] },
    { columns: [{ label: 'no field' }] },
    { columns: [{ field: 'n', kind: 'unknown' }] },
    { columns: ['name'], actions: ['a b'] },
    { columns: ['name'], actions: ['a', 'a'] },
  ]
  const table = (pins: JsonObject) => ({
    type: 'state_advanced_datatable',
    in: { storage: '@kept.storage', ...pins },
  })
  await allRefused(fixture, wrong.map(table), { kept: storage(fixture.name()), page: page(fixture.name()) })
  const whole = { kept: storage(fixture.name()), table: table({ columns: ['name'] }) }
  await needs(fixture, whole, 'table', 'storage', 'columns')
  for (const page_size of [0, 501, 2.5]) {
    const blocks = { kept: storage(fixture.name()), bad: table({ columns: ['name'], page_size }) }
    expect(await refused(fixture, blocks)).toContain('page_size')
  }
}

export const scenarios: Scenarios = { state_advanced_datatable: showsTable }
