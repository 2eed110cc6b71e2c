/** Files of documents in and out: CSV, mapping, previews, bad lines, undo, and exports of what is filtered. */
import { randomBytes, randomFillSync } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { type Cell, xlsxFile } from '../../../blocks/rows/xlsx-file.ts'
import { xlsxRows } from '../../../blocks/rows/xlsx-rows.ts'
import { beginImport, undoBrokenImports, undoImport } from '../../../records/documents/import-journal.ts'
import { createField } from '../../../records/fields/field-records.ts'
import { XLSX } from '../../../shared/files/file-types.ts'
import { guidSource } from '../../../shared/guid.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { objectsIn } from '../../../storage/document-fields.ts'

let fixture: DocumentServer
let storage: string
let number = 0
let creator: string
const newGuid = guidSource(Date.now, (bytes) => void randomFillSync(bytes))
const by = { guid: 'u', username: 'u' }

beforeAll(async () => {
  fixture = await openDocumentServer({ imported: 8_000_000 })
  creator = await fixture.addUser('creator', ['storages_create'])
  await fixture.addUser('viewer', ['storages_view'])
})
afterAll(() => fixture.close())

const fields: readonly JsonObject[] = [
  { name: 'name', type: 'string', required: true, label: 'Full name' },
  { name: 'price', type: 'decimal' },
  { name: 'due', type: 'day' },
  { name: 'sold', type: 'boolean' },
  { name: 'state', type: 'string', default_value: 'new' },
  { name: 'code', type: 'string', unique: true },
  { name: 'double', type: 'number', computed: '(doc.price ?? 0) * 2' },
]
beforeEach(async () => {
  number += 1
  storage = `goods${number}`
  await fixture.make(storage)
  for (const field of fields) await createField(fixture.database, { ...field, storage }, by)
})

const base = () => `/_system/storages/${storage}/documents`
const address = (path: string, query: Readonly<Record<string, string>>) =>
  `${base()}/${path}?${new URLSearchParams(query)}`
const csv = (raw: string | Buffer, query: Readonly<Record<string, string>> = {}, as = 'admin') =>
  fixture.send('POST', address('import', query), as, { raw, type: 'text/csv' })
const ndjson = (raw: string, query: Readonly<Record<string, string>> = {}) =>
  fixture.send('POST', address('import', query), 'admin', { raw, type: 'application/x-ndjson' })
const preview = (raw: string, query: Readonly<Record<string, string>> = {}, type = 'text/csv') =>
  fixture.send('POST', address('import/preview', query), 'admin', { raw, type })
const take = (query: Readonly<Record<string, string>>, as = 'admin') =>
  fixture.send('GET', address('export', query), as)

async function stored(): Promise<readonly JsonObject[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const { documents } = await fixture.database.session().find(storage, search({ sort, limit: 1000 }))
  return objectsIn(documents.value).map(({ _meta, ...document }) => document)
}
async function expectNothing(): Promise<void> {
  expect(await stored()).toEqual([])
  expect(await fixture.database.session().count('_imports', matchAll)).toBe(0)
  expect(await readdir(join(fixture.directory, 'imports'))).toEqual([])
}

describe('refused, and nothing is imported', () => {
  test.each<[string, string | Buffer, Readonly<Record<string, string>>, RegExp]>([
    ['a value of another type', 'name,price\na,1\nb,x', {}, /^Line 3: The value of price is not a number/],
    ['a rule', 'name,due\na,2026-13-01', {}, /^Line 2: due must be a day/],
    ['a required field', 'price\n1', {}, /^Line 2: name is required/],
    ['too many cells', 'name\na,b', {}, /^Line 2: There are 2 cells, but the file has 1 column/],
    ['a quote that is not closed', 'name\n"a', {}, /^The file has a quote in line 2 that is never closed/],
    ['another encoding', Buffer.from([0x6e, 0x0a, 0xe9]), {}, /^The file is not UTF-8/],
    ['two columns of one field', 'name,Full name\na,b', {}, /^Two columns go into the field name/],
    ['a column that is not there', 'name\na', { mapping: '{"x":"name"}' }, /names the column "x"/],
    ['what Quoin writes', 'a\nb', { mapping: '{"a":"_meta.removed"}' }, /is written by Quoin/],
    ['no mapping', 'name\na', { mapping: '[]' }, /^mapping must be a JSON object/],
    ['a prototype', 'a\nb', { mapping: '{"a":"__proto__"}' }, /^mapping must be a JSON object/],
    [
      'a value without a name of its column',
      'name,\na,b',
      {},
      /^Line 2: There is a value in column 2, which has no name/,
    ],
    ['a hint and another separator', 'sep=;\nname,price\na,1', {}, /^Line 3: |name is required/],
    ['another decimal mark', 'name;price\na;1.5', { decimal: 'comma' }, /decimal comma/],
  ])('%s', async (_what, raw, query, message) => {
    const reply = await csv(raw, query)
    expect([reply.status, textAt(reply.body, 'message')]).toEqual([400, expect.stringMatching(message)])
    await expectNothing()
  })

  test('every bad line is named, with its field', async () => {
    const { status, body } = await csv('name,price,due\na,x,\n,1,\nb,2,\nc,,soon')
    expect(status).toBe(400)
    expect(body).toMatchObject({
      details: {
        lines: [
          { line: 2, fields: ['price'], message: 'The value of price is not a number.' },
          { line: 3, fields: ['name'] },
          { line: 5, fields: ['due'] },
        ],
      },
    })
    await expectNothing()
  })

  test('without the scope', async () => {
    expect((await csv('name\na', {}, 'viewer')).status).toBe(403)
    const undo = (as: string) => fixture.send('DELETE', `${base()}/imports/x`, as)
    expect([(await undo('creator')).status, (await undo('admin')).status]).toEqual([403, 404])
    expect((await take({ format: 'csv' }, 'creator')).status).toBe(403)
    await expectNothing()
  })
})

describe('CSV', () => {
  test('becomes values of the fields; an empty cell leaves its field out', async () => {
    const raw = '\ufeffFull name;price;due;sold;state;\r\n"A ""b""";1.234,5;31.1.2026;yes;;\r\nC;;;;old;\r\n'
    expect((await csv(raw, { decimal: 'comma' }, 'creator')).body).toEqual({ imported: 2 })
    expect(await stored()).toEqual([
      { name: 'A "b"', price: 1234.5, due: '2026-01-31', sold: true, state: 'new', double: 2469 },
      { name: 'C', state: 'old', double: 0 },
    ])
  })

  test('a column is found however its letters are composed', async () => {
    await createField(fixture.database, { name: 'größe', type: 'number', storage }, by)
    const apart = 'Größe'.normalize('NFD')
    expect((await csv(`name,${apart},${'café'.normalize('NFD')}\na,4,x`)).body).toEqual({ imported: 1 })
    expect((await csv('name,café\nb,y')).body).toEqual({ imported: 1 })
    expect(await stored()).toMatchObject([
      { name: 'a', größe: 4, café: 'x' },
      { name: 'b', café: 'y' },
    ])
  })

  test('a mapping says where columns go', async () => {
    const mapping = JSON.stringify({ who: 'name', note: null, place: 'address.city' })
    expect((await csv('who,note,place\nAnn,x,Oslo', { mapping })).body).toEqual({ imported: 1 })
    expect(await stored()).toMatchObject([{ name: 'Ann', address: { city: 'Oslo' } }])
    expect((await stored())[0]).not.toHaveProperty('note')
  })

  test('lines of NDJSON are mapped too', async () => {
    const mapping = JSON.stringify({ who: 'name', note: null })
    expect((await ndjson('{"who":"Ann","note":1,"price":2}', { mapping })).body).toEqual({ imported: 1 })
    expect(await stored()).toMatchObject([{ name: 'Ann', price: 2 }])
  })

  test('what is exported is imported as it was', async () => {
    await csv('name,price,sold\n=1+1,-2.5,no\n"a,\n""b""",,yes')
    const exported = await take({ format: 'csv', columns: '["_meta.guid","name","price","sold","double"]' })
    expect(exported.text).toContain("'=1+1,-2.5,false,-5")
    const before = await stored()
    const { documents } = await fixture.database.session().find(storage, search({}))
    for (const { _meta } of objectsIn(documents.value))
      await fixture.send('DELETE', `${base()}/${textAt(_meta, 'guid')}?hard=true`, 'admin')
    expect((await csv(exported.text)).body).toEqual({ imported: 2 })
    // Without the mark that keeps a spreadsheet from running it.
    expect(await stored()).toEqual(before)
  })
})

describe('lines that are refused', () => {
  test('are left out and listed where that is asked for; the others are imported', async () => {
    const rows = Array.from({ length: 450 }, (_, n) => `a${n},${n % 100 === 7 ? 'x' : n},c${n % 440}`)
    const { status, body } = await csv(`name,price,code\n${rows.join('\n')}`, { skip_invalid: 'true' })
    expect([status, body]).toMatchObject([
      200,
      {
        imported: 436,
        refused: 14,
        problems: expect.arrayContaining([
          { line: 9, fields: ['price'], message: 'The value of price is not a number.' },
          expect.objectContaining({ line: 442, fields: ['code'] }),
        ]),
      },
    ])
    expect(await fixture.database.session().count(storage, matchAll)).toBe(436)
    expect((await stored()).filter(({ code }) => code === 'c0')).toMatchObject([{ name: 'a0' }])
  })

  test('at most 100 are listed', async () => {
    const { body } = await csv(`name,price\n${'a,x\n'.repeat(300)}`, { skip_invalid: 'true' })
    expect(body).toMatchObject({ imported: 0, refused: 300 })
    expect(objectsIn([body ?? null])[0]?.problems).toHaveLength(100)
  })
})

describe('preview', () => {
  test('shows what rows would become, what is wrong, and where columns go; it stores nothing', async () => {
    const { status, body } = await preview('Full name,cost,double\nA,1,2\n,2,3', {
      mapping: '{"cost":"price"}',
    })
    expect([status, body]).toEqual([
      200,
      {
        dialect: { format: 'csv', encoding: 'utf-8', separator: ',' },
        columns: [
          { column: 'Full name', field: 'name' },
          { column: 'cost', field: 'price' },
          { column: 'double', field: null },
        ],
        rows: [
          { line: 2, document: { name: 'A', price: 1, state: 'new', double: 2 } },
          { line: 3, problem: { line: 3, fields: ['name'], message: expect.stringContaining('required') } },
        ],
      },
    ])
    await expectNothing()
  })

  test('has at most 20 rows, however the file goes on', async () => {
    const lines = Array.from({ length: 30 }, (_, n) => JSON.stringify({ name: `n${n}` }))
    const { body } = await preview(`${lines.join('\n')}\n{"na`, {}, 'application/x-ndjson')
    expect(objectsIn([body ?? null])[0]?.rows).toHaveLength(20)
    expect((await preview('x'.repeat(5_000_000))).status).toBe(413)
    expect((await preview('name\n"a')).status).toBe(400)
    await expectNothing()
  })
})

describe('undo', () => {
  const undo = (id: string, name = storage) =>
    fixture.send('DELETE', `/_system/storages/${name}/documents/imports/${id}`, 'admin')

  test('deletes what the import made, and leaves what was changed since', async () => {
    await csv('name\nbefore')
    const rows = Array.from({ length: 450 }, (_, n) => `a${n}`).join('\n')
    const { body } = await csv(`name\n${rows}`, { undo: 'true' })
    const id = textAt(body, 'undo')
    const { documents } = await fixture.database
      .session()
      .find(storage, search({ query: { kind: 'term', field: 'name', value: 'a7' } }))
    fixture.clock.now += 5_000
    const [one] = objectsIn(documents.value)
    await fixture.send('PUT', `${base()}/${textAt(one, '_meta', 'guid')}`, 'admin', { body: { price: 1 } })
    expect((await undo(id, 'goods1')).status).toBe(storage === 'goods1' ? 200 : 404)
    expect((await undo(id)).body).toEqual({ deleted: 449, left: 1 })
    expect((await stored()).map(({ name }) => name)).toEqual(['before', 'a7'])
    expect((await undo(id)).status).toBe(404)
    expect(await fixture.database.session().count('_imports', matchAll)).toBe(0)
  })

  test('is still possible after the next start, which forgets what broken imports have left', async () => {
    const id = textAt((await csv('name\na\nb', { undo: 'true' })).body, 'undo')
    await undoBrokenImports(fixture.database, { failed: new Set(), isStart: true, warn: () => undefined })
    expect((await undo(id)).body).toEqual({ deleted: 2, left: 0 })
  })

  test('an import cannot be undone unless that was asked for; the oldest are forgotten', async () => {
    expect((await csv('name\na')).body).toEqual({ imported: 1 })
    const ids: string[] = []
    for (let n = 0; n < 22; n += 1) ids.push(textAt((await csv('name\na', { undo: 'true' })).body, 'undo'))
    expect(await fixture.database.session().count('_imports', matchAll)).toBe(40)
    expect((await undo(ids[0] ?? '')).status).toBe(404)
    for (const id of ids.slice(2)) expect((await undo(id)).body).toEqual({ deleted: 1, left: 0 })
    expect(await stored()).toHaveLength(3)
  })
})

describe('export', () => {
  test.each<[Readonly<Record<string, string>>, string]>([
    [{ format: 'csv', columns: '[]' }, 'columns must be a JSON list'],
    [{ format: 'csv', columns: '["a..b"]' }, 'columns must be a JSON list'],
    [{ filters: 'x' }, 'filters is not JSON'],
  ])('%j is refused', async (query, message) => {
    const { status, body } = await take(query)
    expect([status, textAt(body, 'message')]).toEqual([400, expect.stringContaining(message)])
  })

  test('of what is filtered and in which order', async () => {
    await csv('name,price\na,1\nb,2\nc,3')
    const query = { filters: '{"price":{"gte":2}}', sort: '[{"price":"desc"}]' }
    expect((await take({ ...query, format: 'csv', columns: '["name","price"]' })).text).toBe(
      '\ufeffname,price\r\nc,3\r\nb,2\r\n',
    )
    const lines = (await take(query)).text.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).name)).toEqual(['c', 'b'])
    expect((await take({ format: 'csv', query: 'b', columns: '["name"]' })).text).toBe('\ufeffname\r\nb\r\n')
    expect((await take({ format: 'csv' })).headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${storage}.csv"`,
    })
  })
})

describe('workbooks', () => {
  async function sheetOf(rows: readonly (readonly Cell[])[]): Promise<Buffer> {
    async function* input() {
      yield* rows
    }
    return buffer(Readable.from(xlsxFile(input())))
  }
  const sheet = async (rows: readonly (readonly Cell[])[], query: Readonly<Record<string, string>> = {}) =>
    fixture.send('POST', address('import', query), 'admin', { raw: await sheetOf(rows), type: XLSX })
  async function rowsIn(file: Buffer): Promise<(readonly Cell[])[]> {
    const read = (start: number, end: number) => Readable.from([file.subarray(start, end + 1)])
    const rows = await Array.fromAsync(xlsxRows({ size: file.length, read }))
    return rows.map(({ cells }) => cells)
  }

  test.each<[string, Buffer | readonly (readonly Cell[])[], RegExp]>([
    ['what is no workbook', Buffer.from('name,price'), /^The file is no XLSX workbook/],
    ['a workbook that is cut off', Buffer.from('PK\u0003\u0004'), /^The file is no XLSX workbook/],
    [
      'a value of another type',
      [
        ['name', 'price'],
        ['a', 1],
        ['b', 'x'],
      ],
      /^Line 3: The value of price is not a number/,
    ],
    ['a required field', [['price'], [1]], /^Line 2: name is required/],
    ['too many cells', [['name'], ['a', 'b']], /^Line 2: There are 2 cells, but the file has 1 column/],
    [
      'two columns of one field',
      [
        ['name', 'Full name'],
        ['a', 'b'],
      ],
      /^Two columns go into the field name/,
    ],
  ])('%s is refused, and nothing is imported', async (_what, input, message) => {
    const raw = Buffer.isBuffer(input) ? input : await sheetOf(input)
    const reply = await fixture.send('POST', address('import', {}), 'admin', { raw, type: XLSX })
    expect([reply.status, textAt(reply.body, 'message')]).toEqual([400, expect.stringMatching(message)])
    await expectNothing()
  })

  test('without the scope nothing is imported', async () => {
    const raw = await sheetOf([['name'], ['a']])
    expect((await fixture.send('POST', address('import', {}), 'viewer', { raw, type: XLSX })).status).toBe(
      403,
    )
    expect((await fixture.send('POST', address('import', {}), '', { raw, type: XLSX })).status).toBe(401)
    await expectNothing()
  })

  test('cells become values of the fields; without a field they stay what they are', async () => {
    const reply = await sheet(
      [
        ['Full name', 'price', 'due', 'sold', 'code', 'weight', 'new', 'note'],
        ['a', 1.5, '2026-01-31', true, 17, 2.25, false, 'x'],
        ['b', '2,5', '', 'yes', '', '', '', ''],
      ],
      { decimal: 'comma' },
    )
    expect([reply.status, reply.body]).toMatchObject([200, { imported: 2 }])
    expect(await stored()).toEqual([
      {
        ...{ name: 'a', price: 1.5, due: '2026-01-31', sold: true, state: 'new', code: '17', double: 3 },
        ...{ weight: 2.25, new: false, note: 'x' },
      },
      { name: 'b', price: 2.5, sold: true, state: 'new', double: 5 },
    ])
  })

  test('columns are mapped, bad lines named and skipped, and the import undone', async () => {
    const query = { mapping: '{"Title":"name","Left out":null}', skip_invalid: 'true', undo: 'true' }
    const { status, body } = await sheet(
      [
        ['Title', 'Left out', 'price'],
        ['a', 1, 1],
        ['b', 2, 'x'],
        ['c', 3, 3],
      ],
      query,
    )
    expect([status, body]).toMatchObject([
      200,
      { imported: 2, refused: 1, problems: [{ line: 3, fields: ['price'] }] },
    ])
    expect((await stored()).map(({ name }) => name)).toEqual(['a', 'c'])
    await fixture.send('DELETE', `${base()}/imports/${textAt(body, 'undo')}`, 'admin')
    expect(await stored()).toEqual([])
  })

  test('a preview reads the whole workbook and stores nothing', async () => {
    const many = Array.from({ length: 30_000 }, (_none, at) => [randomBytes(150).toString('base64'), at])
    const raw = await sheetOf([['name', 'price'], ...many])
    expect(raw.length).toBeGreaterThan(4 * 1024 * 1024)
    const { status, body } = await fixture.send('POST', address('import/preview', {}), 'admin', {
      raw,
      type: XLSX,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      columns: [
        { column: 'name', field: 'name' },
        { column: 'price', field: 'price' },
      ],
    })
    expect(objectsIn(isJsonObject(body) ? body.rows : undefined)).toHaveLength(20)
    await expectNothing()
  })

  test('what is filtered is exported in its order, and imported again as it was', async () => {
    await ndjson(
      ['c', 'a', 'b', '=1+1']
        .map((name, at) =>
          JSON.stringify({ name, price: at, sold: at === 1, tags: ['x', 'y'], code: `${at}` }),
        )
        .join('\n'),
    )
    const columns = JSON.stringify(['name', 'price', 'sold', 'tags', 'nothing'])
    const filters = '{"price":{"gt":0}}'
    const sort = '[{"name":"asc"}]'
    expect((await take({ format: 'xlsx', columns }, '')).status).toBe(401)
    expect((await take({ format: 'xlsx', columns }, 'creator')).status).toBe(403)
    const reply = await take({ format: 'xlsx', columns, sort, filters })
    expect([reply.status, reply.headers['content-type']]).toEqual([200, XLSX])
    expect(reply.headers['content-disposition']).toBe(`attachment; filename="${storage}.xlsx"`)
    expect(await rowsIn(reply.bytes)).toEqual([
      ['name', 'price', 'sold', 'tags', 'nothing'],
      ['=1+1', 3, false, 'x; y', ''],
      ['a', 1, true, 'x; y', ''],
      ['b', 2, false, 'x; y', ''],
    ])
    const all = await take({ format: 'xlsx', columns: '["name","price","sold"]' })
    await fixture.make(`${storage}_copy`)
    const copied = await fixture.send('POST', `/_system/storages/${storage}_copy/documents/import`, 'admin', {
      ...{ raw: all.bytes, type: XLSX },
    })
    expect(copied.body).toMatchObject({ imported: 4 })
  })
})

describe('tables of other programs', () => {
  test.each<[string, string | Buffer, Readonly<Record<string, string>>, JsonObject]>([
    [
      'a hint of the separator',
      'sep=;\r\nname;price\r\nTea, green;4\r\n',
      {},
      { name: 'Tea, green', price: 4 },
    ],
    [
      'Unicode text of Excel',
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('name\tprice\r\n東京\t4\r\n', 'utf16le')]),
      {},
      { name: '東京', price: 4 },
    ],
    ['a code as a formula', 'name,code\na,"=""00123"""', {}, { name: 'a', code: '00123' }],
    ['a currency', 'name;price\na;1.234,50 €', { decimal: 'comma' }, { name: 'a', price: 1234.5 }],
    ['an order of days', 'name,due\na,3/4/2026', { dates: 'dmy' }, { name: 'a', due: '2026-04-03' }],
  ])('%s', async (_what, raw, query, document) => {
    expect(await csv(raw, query)).toMatchObject({ status: 200, body: { imported: 1 } })
    expect(await stored()).toMatchObject([document])
  })

  test('the preview says what was recognised', async () => {
    const { body } = await preview('sep=;\r\nname;price\r\nTea;4\r\n')
    expect(body).toMatchObject({ dialect: { format: 'csv', encoding: 'utf-8', separator: ';' } })
  })
})

describe('sent again, since the answer was lost', () => {
  const rows = 'name,price\na,1\nb,x\n'
  const names = async () => (await stored()).map(({ name }) => name)

  test('refused', async () => {
    const id = newGuid()
    expect((await csv(rows, { id: 'x' })).status).toBe(400)
    await csv('name\nother', { id })
    expect(await csv(rows, { id }, 'creator')).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
    const written = await beginImport(fixture.database, storage, { id: newGuid(), user: creator })
    expect(await csv(rows, { id: written }, 'creator')).toMatchObject({ status: 409 })
    await undoImport(fixture.database, written, {})
    expect(await names()).toEqual(['other'])
  })

  test.each([{}, { undo: 'true' }])('is imported once, and answered as the first time: %j', async (query) => {
    const named = { ...query, id: newGuid(), skip_invalid: 'true' }
    expect((await csv(rows, named)).body).toMatchObject({ imported: 1, refused: 1, problems: [{ line: 3 }] })
    const again = { imported: 1, refused: 1, problems: [], refused_lines: '3' }
    expect((await csv(rows, named)).body).toEqual({ ...again, ...('undo' in query && { undo: named.id }) })
    expect(await names()).toEqual(['a'])
    expect((await csv(rows, { ...named, id: newGuid() })).body).toMatchObject({ imported: 1 })
    expect(await names()).toEqual(['a', 'a'])
  })

  test('one that was refused is done when it is sent again; two at the same time are one', async () => {
    const id = newGuid()
    expect(await csv(rows, { id })).toMatchObject({ status: 400 })
    const both = await Promise.all([csv('name\na', { id }), csv('name\na', { id })])
    expect(both.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    for (const { status } of both) expect([200, 409]).toContain(status)
    expect(await names()).toEqual(['a'])
    expect((await csv('name\na', { id })).body).toEqual({ imported: 1 })
  })
})
