// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have template literals of their own.
/** Columns whose cells an expression calculates: on the page, in its CSV, after changes, and where it fails. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import { createField } from '../../records/fields/field-records.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestQuoin
let origin: string

const columns = [
  { field: 'n', kind: 'number', sortable: true },
  { field: 'price', format: '=value * 1.19', kind: 'currency', currency: 'EUR' },
  { field: 'total', label: 'Total', format: '=round(doc.price * doc.count, 1)', kind: 'number' },
  { field: 'whose', format: '=`${doc.customer.name} (${doc["customer"].city})`' },
  { field: 'name', format: '=value ?? "none"' },
  { field: 'when', format: '=format(value, "yyyy-MM-dd HH:mm")' },
]

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_TIME_ZONE: 'Europe/Berlin' })
  origin = await fixture.quoin.server.listen()
  const { database } = fixture.quoin
  for (const name of ['customers', 'orders']) await database.ensure(name)
  const reference = { storage: 'customers', on_delete: 'refuse' }
  await createField(database, { name: 'name', type: 'string', storage: 'customers' }, by)
  await createField(database, { name: 'customer', type: 'reference', storage: 'orders', reference }, by)
  await fixture.install('Orders', tablePage('orders', columns))
  const session = database.session()
  const ann = guidOf(documentOf(await session.create('customers', setFields({ name: 'Ann', city: 'Rome' }))))
  for (const fields of [
    { n: 1, price: 10, count: 3, customer: ann, name: '<b>x</b>', when: '2026-07-01T10:00:00.000Z' },
    { n: 2, price: 'free', count: 2, name: '=1+1' },
    { n: 3, price: 0.5, count: 0.25, customer: null },
  ])
    await session.create('orders', setFields(fields))
  await session.transaction.commit()
})
afterAll(() => fixture?.close())

function tablePage(url: string, list: readonly unknown[], more: Record<string, unknown> = {}) {
  return JSON.parse(
    JSON.stringify({
      page: { type: 'state_page', in: { url, title: 'Orders' } },
      table: {
        type: 'state_advanced_datatable',
        in: { storage: 'orders', table_id: 't', sort: 'n', columns: list, ...more },
      },
      show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
    }),
  )
}

async function rowsOf(address: string): Promise<readonly string[]> {
  const { html } = await openVisitor(origin).get(address)
  const rows = [...html.matchAll(/<tr\b[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh]\b[^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]*>/g, '')
        .replace('empty', '')
        .trim(),
    ),
  )
  return rows.slice(1).map((cells) => cells.join(' | '))
}

async function csvOf(address: string): Promise<readonly string[]> {
  const text = await (await fetch(`${origin}${address}`)).text()
  return text.trim().split('\r\n').slice(1)
}

const warnings = async () =>
  (await fixture.systemLog()).filter(
    ({ level, message }) => level === 'warn' && String(message).includes('shows nothing'),
  )

describe('a table', () => {
  test('shows what the expressions give, escaped, and nothing where they fail', async () => {
    expect(await rowsOf('/orders')).toEqual([
      '1 | €11.90 | 30 | Ann (Rome) | &lt;b>x&lt;/b> | 2026-07-01 12:00',
      '2 | – | – | () | =1+1 | –',
      '3 | €0.60 | 0.1 | () | none | –',
    ])
  })

  test('saves the same as CSV, without formulas', async () => {
    expect(await csvOf('/orders?_export=t')).toEqual([
      '1,11.9,30,Ann (Rome),<b>x</b>,2026-07-01 12:00',
      "2,,, (),'=1+1,",
      '3,0.595,0.1, (),none,',
    ])
  })

  test('saves moments as the page shows them: seconds, parts of them, and milliseconds', async () => {
    const date = (from: string, format: string) => ({ field: from, format })
    const moments = [date('seconds', 'date_time'), date('parts', 'date_time'), date('ms', 'date')]
    await fixture.install('Moments', {
      ...tablePage('moments', moments),
      table: {
        ...tablePage('moments', moments).table,
        in: { storage: 'moments', table_id: 't', columns: moments },
      },
    })
    const session = fixture.quoin.database.session()
    const at = 1_782_900_000
    await session.create('moments', setFields({ seconds: at, parts: at + 0.1234567, ms: at * 1000 }))
    await session.transaction.commit()
    expect(await csvOf('/moments?_export=t')).toEqual([
      '2026-07-01T12:00:00+02:00,2026-07-01T12:00:00+02:00,2026-07-01',
    ])
  })

  test('calculates the chosen columns only, and follows each change of a document', async () => {
    expect(await rowsOf('/orders?t.cols=total&t.sort=-n')).toEqual(['0.1', '–', '30'])
    const [first] = await fixture.documents('orders')
    const session = fixture.quoin.database.session()
    await session.update('orders', guidOf(first), setFields({ count: 4 }))
    await session.transaction.commit()
    expect(await rowsOf('/orders?t.cols=total')).toEqual(['40', '–', '0.1'])
  })
})

test('the log says once why a column is empty, and in which rows', async () => {
  await rowsOf('/orders')
  await rowsOf('/orders')
  const [, second] = await fixture.documents('orders')
  const found = await warnings()
  expect(found.map(({ message }) => message).sort()).toEqual([
    expect.stringMatching(
      new RegExp(`column price of 1 of 3 rows, .*In the document ${guidOf(second)}: The operator`),
    ),
    expect.stringMatching(new RegExp(`column total of 1 of 3 rows, .*${guidOf(second)}: The operator`)),
  ])
  expect(found.map(({ pin }) => pin)).toEqual(['columns', 'columns'])
})

describe('bounds of a cell', () => {
  const many = (count: number) => `=range(1, ${count}).map(i => doc.n + i).length`

  test.each<[string, string, RegExp | undefined, string]>([
    ['as many elements as may be', many(600), undefined, '600'],
    // A cell that may not make them shows nothing until a flow has made them, which no page can ask for.
    [
      'names of a further locale',
      '=format("2026-01-31", "d MMMM EEEE", "UTC", "is-IS")',
      undefined,
      '31 janúar',
    ],
    ['more elements', many(7_000), /more than 6,000 elements/, '–'],
    [
      'more work, on as many elements as may be',
      `=range(1, 600).map(i => ${Array.from({ length: 400 }, () => 'i*i').join('+')}).length`,
      /more than 6,000 elements/,
      '–',
    ],
    ['as long a text as may be', '="x".padEnd(10000)', undefined, 'x'],
    ['a longer text', '="x".padEnd(10001)', /more than 10,000 characters/, '–'],
    ['a list of long texts', '=range(1, 11).map(i => "x".padEnd(1000))', /10,000 characters/, '–'],
  ])('%s', async (_what, format, reason, cell) => {
    const url = `bound-${crypto.randomUUID()}`
    await fixture.install(url, tablePage(url, [{ field: 'n', format }], { table_id: url }))
    expect((await rowsOf(`/${url}`)).map((row) => row.slice(0, cell.length))).toEqual([cell, cell, cell])
    const reported = (await warnings()).filter(({ message }) => String(message).includes(url))
    expect(reported.map(({ message }) => message)).toEqual(reason ? [expect.stringMatching(reason)] : [])
  })

  test('and of all cells of a page: the later ones stay empty', async () => {
    const wide = Array.from({ length: 100 }, (_one, at) => ({
      field: at === 0 ? 'n' : `f${at}`,
      format: '="x".padEnd(9999)',
    }))
    await fixture.install('Wide', tablePage('wide', wide))
    const cells = (await rowsOf('/wide')).flatMap((row) => row.split(' | '))
    expect([cells.length, cells.filter((one) => one.startsWith('x')).length]).toEqual([300, 201])
  })
})
