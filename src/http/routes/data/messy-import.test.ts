/** Files as people hand them around: a title before the names, several sheets, numbers and days of a country, wrong cells. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { messyWorkbook } from '../../../../test/messy-workbook.ts'
import { createField } from '../../../records/fields/field-records.ts'
import { XLSX } from '../../../shared/files/table-types.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { search } from '../../../shared/query.ts'
import { objectsIn } from '../../../storage/document-fields.ts'

let room: DocumentServer
let storage: string
let number = 0
const by = { guid: 'u', username: 'u' }

beforeAll(async () => {
  room = await openDocumentServer({ imported: 8_000_000 })
})
afterAll(() => room.close())

const fields: readonly JsonObject[] = [
  { name: 'name', type: 'string', required: true, label: 'Full name' },
  { name: 'price', type: 'number' },
  { name: 'due', type: 'day' },
]
beforeEach(async () => {
  number += 1
  storage = `deals${number}`
  await room.make(storage)
  for (const [order, field] of fields.entries())
    await createField(room.database, { ...field, order, storage }, by)
})

type Query = Readonly<Record<string, string>>
const send = (path: string, raw: string | Buffer, query: Query, type = 'text/csv') =>
  room.send('POST', `/_system/storages/${storage}/documents/${path}?${new URLSearchParams(query)}`, 'admin', {
    ...{ raw, type },
  })
const load = (raw: string | Buffer, query: Query = {}, type?: string) => send('import', raw, query, type)
const preview = (raw: string | Buffer, query: Query = {}, type?: string) =>
  send('import/preview', raw, { recognize: 'true', ...query }, type)

async function stored(): Promise<readonly JsonObject[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const { documents } = await room.database.session().find(storage, search({ sort, limit: 1000 }))
  return objectsIn(documents.value).map(({ _meta, ...document }) => document)
}

const names = ['Full name', 'Price', 'Due']
const messy = () =>
  messyWorkbook([
    { name: 'Notes <&>', rows: [['name'], ['of the sheet before']] },
    {
      name: 'Deals',
      title: 'Deals of 2026',
      rows: [names, ['Ann', '1.234,56', '31.1.2026'], ['Bob', '12,50 EUR', '2026-02-01'], ['Cid', 7, '']],
    },
  ])

describe('the sheet and the line of the names', () => {
  test('are chosen, and the lines before the names are left out', async () => {
    const raw = await messy()
    expect((await load(raw, { sheet: 'Deals', header: '3', decimal: 'comma' }, XLSX)).body).toEqual({
      imported: 3,
    })
    expect(await stored()).toEqual([
      { name: 'Ann', price: 1234.56, due: '2026-01-31' },
      { name: 'Bob', price: 12.5, due: '2026-02-01' },
      { name: 'Cid', price: 7 },
    ])
  })

  test('are recognized by a preview, with what the columns hold', async () => {
    const { status, body } = await preview(await messy(), { sheet: 'Deals' }, XLSX)
    expect([status, body]).toMatchObject([
      200,
      {
        dialect: { format: 'xlsx', sheet: 'Deals', sheets: ['Notes <&>', 'Deals'] },
        header: 3,
        columns: [
          { column: 'Full name', field: 'name' },
          {
            ...{ column: 'Price', field: 'price' },
            format: { format: 'comma', sample: '1.234,56', readings: [{ format: 'comma', value: 1234.56 }] },
          },
          { column: 'Due', field: 'due', format: { format: 'dmy', sample: '31.1.2026' } },
        ],
        rows: [
          { line: 4, cells: ['Ann', '1.234,56', '31.1.2026'], document: { price: 1234.56 } },
          {
            line: 5,
            cells: ['Bob', '12,50 EUR', '2026-02-01'],
            document: { price: 12.5, due: '2026-02-01' },
          },
          { line: 6, cells: ['Cid', 7, ''], document: { price: 7 } },
        ],
      },
    ])
    expect(await stored()).toEqual([])
  })

  test('of CSV behind a title, whose separator is that of most lines', async () => {
    const raw = 'Deals, of, the, last, year\n\nFull name;Price;Due\nAnn;1,5;\nBob;2,5;\n'
    const { body } = await preview(raw)
    expect(body).toMatchObject({
      header: 3,
      dialect: { separator: ';' },
      rows: [{ document: { price: 1.5 } }, {}],
    })
    const formats = '{"Price":"comma"}'
    expect((await load(raw, { header: '3', formats })).body).toEqual({ imported: 2 })
    expect(await stored()).toEqual([
      { name: 'Ann', price: 1.5 },
      { name: 'Bob', price: 2.5 },
    ])
  })

  test.each<[string, Query, RegExp]>([
    [
      'a sheet that is not there',
      { sheet: '<b>' },
      /^The file has no sheet "<b>"; its sheets are "Notes <&>", "Deals"/,
    ],
    ['a line of names that is empty', { sheet: 'Deals', header: '2' }, /^Line 2 of the file is empty/],
    ['line 0', { header: '0' }, /header/],
    ['a format that there is not', { formats: '{"Price":"dot"}' }, /^formats must be a JSON object/],
    ['a format of a column that is not there', { formats: '{"x":"comma"}' }, /^formats names the column "x"/],
  ])('%s is refused', async (_what, query, message) => {
    const reply = await load(await messy(), query, XLSX)
    expect([reply.status, textAt(reply.body, 'message')]).toEqual([400, expect.stringMatching(message)])
    expect(await stored()).toEqual([])
  })
})

describe('numbers and days', () => {
  test('that may mean two things are left open, with both', async () => {
    const { body } = await preview('name,price,due\na,1.234,03/04/2026\nb,5,04/05/2026\n')
    expect(body).toMatchObject({
      columns: [
        {},
        {
          format: {
            sample: '1.234',
            readings: [
              { format: 'point', value: 1.234 },
              { format: 'comma', value: 1234 },
            ],
          },
        },
        { format: { sample: '03/04/2026', readings: [{ value: '2026-04-03' }, { value: '2026-03-04' }] } },
      ],
    })
    expect(JSON.stringify(body)).not.toMatch(/"format":\{"format"/)
  })

  test('are read column by column', async () => {
    await createField(room.database, { name: 'paid', type: 'day', storage }, by)
    const raw = 'name;price;due;paid\na;1.234,5;03/04/2026;03/04/2026\n'
    const formats = JSON.stringify({ price: 'comma', due: 'dmy', paid: 'mdy' })
    expect((await load(raw, { formats })).body).toEqual({ imported: 1 })
    expect(await stored()).toEqual([{ name: 'a', price: 1234.5, due: '2026-04-03', paid: '2026-03-04' }])
  })

  test('a preview without recognition says nothing of them, and reads the first line', async () => {
    const { body } = await preview('name,price\na,1.234\n', { recognize: 'false' })
    expect(body).toEqual({
      dialect: { format: 'csv', encoding: 'utf-8', separator: ',' },
      columns: [
        { column: 'name', field: 'name' },
        { column: 'price', field: 'price' },
      ],
      rows: [{ line: 2, document: { name: 'a', price: 1.234 } }],
    })
  })
})
