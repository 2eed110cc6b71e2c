import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type SeenPage } from '../../../test/page-visitor.ts'
import { setFields } from '../../shared/mutation.ts'

let fixture: TestQuoin
let origin: string
const names = ['Zoë', 'adam', 'Bob', '=1+1', '"quoted", with a comma', '<i>html</i>']

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  await fixture.install('Stock', {
    stock: { type: 'storage', fields: { storage: 'stock' } },
    mine: { type: 'query_bool_term_fields', in: { field: 'owner', value: 'me' } },
    page: { type: 'state_page', in: { url: 'stock', title: 'Stock' } },
    table: {
      type: 'state_advanced_datatable',
      in: {
        storage: '@stock.storage',
        query: '@mine.query',
        page_size: 10,
        table_id: 't',
        row_link: '/stock/{_meta.guid}/{name}',
        columns: [
          { field: 'name', sortable: true, filter: 'text' },
          { field: 'count', label: 'How many', kind: 'number', sortable: true, filter: 'number' },
          { field: 'kind', filter: 'choice', options: ['a', { value: 'b', label: 'Bee' }, 3] },
          { field: 'sold', kind: 'boolean', filter: 'boolean' },
          { field: 'due', kind: 'date', filter: 'date', hidden: true },
        ],
        actions: [
          { name: 'sell', label: 'Sell' },
          { name: 'drop', label: 'Drop', for: 'rows' },
        ],
      },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
    note: {
      type: 'object_new_fields',
      in: { action: '@table.action', guids: '@table.guids' },
      fields: { fields: ['action', 'guids'] },
    },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@note.object' } },
    log: { type: 'storage', fields: { storage: 'done' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@table.row_action', storage: '@log.storage', mutations: '@set.mutations' },
    },
  })
  const session = fixture.quoin.database.session()
  for (let i = 0; i < 60; i += 1) {
    const fields = {
      name: names[i] ?? `item ${String(i).padStart(2, '0')}`,
      count: i,
      kind: i % 2 === 0 ? 'a' : i % 3 === 0 ? 3 : 'b',
      sold: i % 10 === 0,
      due: `2026-01-${String((i % 28) + 1).padStart(2, '0')}`,
      secret: 'password hunter2',
      owner: 'me',
    }
    await session.create('stock', setFields(fields))
  }
  await session.create('stock', setFields({ name: 'of another user', count: 1, owner: 'you' }))
  await session.transaction.commit()
})
afterAll(() => fixture?.close())

const get = (query: string) => openVisitor(origin).get(`/stock${query}`)
/** The first cell of each row, in order. */
function rowsOf({ html }: SeenPage): string[] {
  return [...html.matchAll(/<tr\b[^>]*>(.*?)<\/tr>/gs)].flatMap(([, row = '']) => {
    const [, first] = /<th\b[^>]*scope="row"[^>]*>(.*?)<\/th>/s.exec(row) ?? []
    return first === undefined ? [] : [first.replace(/<[^>]*>/g, '').trim()]
  })
}

describe('what the address says', () => {
  test.each([
    ['', 10, 'item 59'],
    ['?t.sort=count', 10, 'Zoë'],
    ['?t.sort=-count', 10, 'item 59'],
    ['?t.sort=name', 10, '&quot;quoted&quot;, with a comma'],
    ['?t.sort=count&t.page=6', 10, 'item 50'],
    ['?t.sort=count&t.page=999', 10, 'item 50'],
    ['?t.q=item%2077', 0, undefined],
    ['?t.q=item%2042', 1, 'item 42'],
    ['?t.q=zoe', 1, 'Zoë'],
    ['?t.is.name=bo', 1, 'Bob'],
    ['?t.from.count=10&t.to.count=12&t.sort=count', 3, 'item 10'],
    ['?t.is.kind=3&t.sort=count', 10, '=1+1'],
    ['?t.is.kind=b&t.is.sold=true', 0, undefined],
    ['?t.is.sold=true&t.sort=count', 6, 'Zoë'],
    ['?t.from.due=2026-01-28&t.to.due=2026-01-28&t.sort=count', 2, 'item 27'],
  ])('%s shows %i rows, the first one %j', async (query, count, first) => {
    const rows = rowsOf(await get(query))
    expect([rows.length, rows[0]?.replaceAll('"', '&quot;')]).toEqual([count, first])
  })

  test.each([
    ['?t.sort=secret', 'item 59'],
    ['?t.sort=kind', 'item 59'],
    ['?t.is.secret=password', 'item 59'],
    ['?t.from.secret=a', 'item 59'],
    ['?t.from.count=x', 'item 59'],
    ['?t.page=-1', 'item 59'],
    ['?t.page=abc', 'item 59'],
    ['?other.sort=count', 'item 59'],
    ['?t.cols=secret', 'item 59'],
    ['?t.sort=owner%22', 'item 59'],
  ])('%s is not heard', async (query, first) => {
    const page = await get(query)
    expect([page.status, rowsOf(page)[0]]).toEqual([200, first])
    expect(page.html).not.toContain('hunter2')
  })

  test('free text does not reach what no column shows, and no documents of others', async () => {
    for (const query of ['?t.q=hunter2', '?t.q=you', '?t.q=another', '?t.is.name=hunter2'])
      expect(rowsOf(await get(query))).toEqual([])
    expect((await get('')).text).toContain('of 60')
  })

  test.each([
    ['nine misspelled words', `?t.q=${'word~2|'.repeat(9)}`, 't.q has 9 words with spelling mistakes'],
    [
      'nine phrases with gaps',
      `?t.is.name=${'"a b"~9 '.repeat(9)}`,
      'the filter of name has 9 phrases with gaps',
    ],
  ])('%s are refused, with the name of the parameter', async (_name, query, message) => {
    const page = await get(query)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining(message)])
  })

  test('a forged cursor is refused, not run', async () => {
    expect((await get('?t.after=xyz')).status).toBe(400)
  })
})

describe('without a script', () => {
  test('links sort and page, and keep what was searched', async () => {
    const visitor = openVisitor(origin)
    const page = await visitor.get('/stock?t.is.kind=a&other=1')
    const href =
      /href="(\/stock\?[^"]*t\.sort=count[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(href).toContain('t.is.kind=a')
    expect(href).toContain('other=1')
    const sorted = await visitor.get(href)
    expect(rowsOf(sorted)[0]).toBe('Zoë')
    expect(sorted.html).toContain('aria-sort="ascending"')
    const second = await visitor.get(sorted.link('Next'))
    expect(rowsOf(second)[0]).toBe('item 20')
  })

  test('columns are chosen', async () => {
    const shown = await get('')
    expect(shown.html).not.toMatch(/<th[^>]*>(?:(?!<\/th>).)*Due/s)
    const chosen = await get('?t.cols=name&t.cols=due')
    expect(chosen.html).toMatch(/<th[^>]*>(?:(?!<\/th>).)*Due/s)
    expect(chosen.html).not.toMatch(/<th[^>]*>(?:(?!<\/th>).)*How many/s)
  })

  test('rows lead where the block says, safely', async () => {
    const page = await get('?t.is.name=html')
    expect(page.html).toMatch(/href="\/stock\/[0-9a-f-]+\/%3Ci%3Ehtml%3C%2Fi%3E"/)
    expect(page.html).not.toContain('<i>html')
  })
})

describe('actions', () => {
  const done = async () => (await fixture.documents('done')).map(({ action, guids }) => ({ action, guids }))

  test.each([
    ['an action that it has not', { _row: 'burn X' }],
    ['an action for several on one', { _row: 'drop X' }],
    ['an action for one on several', { _bulk: 'sell', _rows: 'X' }],
    ['a document that it does not show', { _row: 'sell Y' }],
    ['a document that is not', { _bulk: 'drop', _rows: ['X', 'nothing'] }],
    ['another table', { _table: 'u', _row: 'sell X' }],
  ])('%s is refused', async (_what, sent) => {
    const all = await fixture.documents('stock')
    const [mine, other] = [guidOf(all[3]), guidOf(all.find(({ owner }) => owner === 'you'))]
    const fill = (text: string) => text.replace('X', mine).replace('Y', other)
    const values = Object.entries(sent).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(fill) : fill(String(value)),
    ])
    const visitor = openVisitor(origin)
    const reply = await visitor.submit(await visitor.get('/stock'), 't', Object.fromEntries(values))
    expect(reply.status).toBe(409)
    expect(await done()).toEqual([])
  })

  test('for one row, for the chosen ones, and for none', async () => {
    const visitor = openVisitor(origin)
    const page = await visitor.get('/stock?t.is.name=bob')
    const [, , bob] = await fixture.documents('stock')
    const sent = await visitor.submit(page, 't', {}, { button: 'Sell' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/stock?t.is.name=bob'])
    expect(await done()).toEqual([{ action: 'sell', guids: [guidOf(bob)] }])
    const guids = (await fixture.documents('stock')).slice(50, 53).map(guidOf)
    await visitor.submit(await visitor.get('/stock'), 't', { _rows: guids }, { button: 'Drop' })
    expect((await done())[1]).toEqual({ action: 'drop', guids })
    const none = await visitor.submit(await visitor.get('/stock'), 't', {}, { button: 'Drop' })
    expect([none.status, (await done()).length]).toEqual([303, 2])
  })
})

describe('as CSV', () => {
  test('all rows that were searched, in the chosen columns and order, and no formulas', async () => {
    const csv = await get('?_export=t&t.sort=count&t.cols=name&t.cols=count')
    expect(csv.status).toBe(200)
    expect(csv.headers.get('content-type')).toContain('text/csv')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="t.csv"')
    const lines = csv.html.replace(/^\ufeff/, '').split('\r\n')
    expect(lines.slice(0, 7)).toEqual([
      'Name,How many',
      'Zoë,0',
      'adam,1',
      'Bob,2',
      "'=1+1,3",
      '"""quoted"", with a comma",4',
      '<i>html</i>,5',
    ])
    expect(lines).toHaveLength(62)
    expect(csv.html).not.toContain('hunter2')
    expect((await get('?_export=t&t.q=item%2042')).html).toContain('item 42')
  })

  test('only of a table that the page has', async () => {
    expect((await get('?_export=other')).status).toBe(404)
  })

  test('only for visitors with access to the page', async () => {
    await fixture.install('Private', {
      s: { type: 'storage', fields: { storage: 'stock' } },
      page: { type: 'state_page', in: { url: 'private' }, scopes: ['boss'] },
      table: { type: 'state_advanced_datatable', in: { storage: '@s.storage', columns: ['name'] } },
      show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
    })
    for (const query of ['_export=stock', '_events=x'])
      expect((await openVisitor(origin).get(`/private?${query}`)).status).toBe(303)
  })
})

test('a table of as many columns as may be is shown, searched and saved', async () => {
  const columns = Array.from({ length: 100 }, (_one, i) => (i === 0 ? 'name' : `field_${i}`))
  await fixture.install('Wide', {
    stock: { type: 'storage', fields: { storage: 'stock' } },
    page: { type: 'state_page', in: { url: 'wide' } },
    table: { type: 'state_advanced_datatable', in: { storage: '@stock.storage', columns } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  })
  const found = await openVisitor(origin).get('/wide?stock.q=item%2042')
  expect([found.status, rowsOf(found)]).toEqual([200, ['item 42']])
  expect(
    (await openVisitor(origin).get('/wide?_export=stock')).html.split('\r\n')[0]?.split(','),
  ).toHaveLength(100)
})
