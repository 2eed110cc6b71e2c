/** Files as people hand them around: a title before the names, several sheets, numbers and days of a country, wrong cells. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { textAt } from '../../../../test/json-at.ts'
import { messyWorkbook } from '../../../../test/messy-workbook.ts'
import { openDocumentImports } from '../../../records/documents/document-import.ts'
import { createField } from '../../../records/fields/field-records.ts'
import { NDJSON, XLSX } from '../../../shared/files/file-types.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { objectsIn } from '../../../storage/document-fields.ts'
import { transact } from '../../../storage/transact.ts'
import { asSystem } from '../../../storage/validated.ts'

let fixture: DocumentServer
let storage: string
let number = 0
const by = { guid: 'u', username: 'u' }

beforeAll(async () => {
  fixture = await openDocumentServer({ imported: 8_000_000 })
})
afterAll(() => fixture.close())

const fields: readonly JsonObject[] = [
  { name: 'name', type: 'string', required: true, label: 'Full name' },
  { name: 'price', type: 'number' },
  { name: 'due', type: 'day' },
]
beforeEach(async () => {
  number += 1
  storage = `deals${number}`
  await fixture.make(storage)
  for (const [order, field] of fields.entries())
    await createField(fixture.database, { ...field, order, storage }, by)
})

type Query = Readonly<Record<string, string>>
const send = (path: string, raw: string | Buffer, query: Query, type = 'text/csv') =>
  fixture.send(
    'POST',
    `/_system/storages/${storage}/documents/${path}?${new URLSearchParams(query)}`,
    'admin',
    {
      ...{ raw, type },
    },
  )
const load = (raw: string | Buffer, query: Query = {}, type?: string) => send('import', raw, query, type)
const preview = (raw: string | Buffer, query: Query = {}, type?: string) =>
  send('import/preview', raw, { recognize: 'true', ...query }, type)

async function stored(): Promise<readonly JsonObject[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const { documents } = await fixture.database.session().find(storage, search({ sort, limit: 1000 }))
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

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

test.each<[string, string | Buffer, string, Query]>([
  ['in a cell with quotes', 'name\nA\n"B,\nC', 'text/csv', {}],
  ['behind a quote of two', 'name\nA\n"B""', 'text/csv', {}],
  ['in a character', Buffer.from('name\nA\nBé').subarray(0, -1), 'text/csv', {}],
  ['in a character of UTF-16', utf16('name\nA\nB').subarray(0, -1), 'text/csv', {}],
  ['within a line feed of UTF-16', utf16('name\nA\nB\n').subarray(0, -1), 'text/csv', {}],
  ['in a document', '{"name":"A"}\n{"na', NDJSON, {}],
  ['in a list of cells', '["name"]\n["A"]\n["B', NDJSON, { rows: 'arrays' }],
])('of a beginning that is cut %s a preview has the whole rows', async (_what, raw, type, query) => {
  const shown = async (more: Query) => {
    const { status, body } = await preview(raw, { ...query, ...more }, type)
    const rows = objectsIn(objectsIn([body ?? null])[0]?.rows)
    return [status, rows.map(({ document }) => objectsIn([document ?? null])[0]?.name)]
  }
  expect(await shown({ beginning: 'true' })).toEqual([200, ['A']])
  expect(await shown({})).not.toEqual([200, ['A']])
  expect(await stored()).toEqual([])
})

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
    await createField(fixture.database, { name: 'paid', type: 'day', storage }, by)
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

describe('wrong cells', () => {
  const refers: JsonObject = {
    name: 'buyer',
    type: 'reference',
    reference: { storage: 'buyers', on_delete: 'refuse' },
  }
  beforeAll(async () => {
    await fixture.make('buyers')
    await createField(fixture.database, { name: 'name', type: 'string', storage: 'buyers', unique: true }, by)
    await fixture.send('POST', '/_system/storages/buyers/documents', 'admin', { body: { name: 'Acme' } })
  })
  beforeEach(() => createField(fixture.database, { ...refers, storage, order: 9 }, by))

  const raw = ['name,price,due,buyer', ',x,soon,Nemo', 'a,1,,Acme', 'b,2,2026-02-30,', '', ',3,,'].join('\n')
  const wrong = [
    {
      line: 2,
      fields: expect.arrayContaining(['price', 'buyer', 'name', 'due']),
      message: expect.stringContaining('The value of price is not a number.'),
      reasons: {
        price: 'The value of price is not a number.',
        buyer: 'The value of buyer names no document: buyers has none with this name.',
        name: 'name is required and must not be empty.',
        due: 'due must be a day such as 2026-01-31.',
      },
      cells: ['', 'x', 'soon', 'Nemo'],
    },
    { line: 4, fields: ['due'], cells: ['b', '2', '2026-02-30', ''] },
    { line: 6, fields: ['name'], cells: ['', '3', '', ''] },
  ]

  test('of a line are all listed, with the line, where nothing is imported and where lines are left out', async () => {
    const refused = await load(raw, { wrong_cells: 'true' })
    expect([refused.status, refused.body]).toMatchObject([400, { details: { lines: wrong } }])
    expect(await stored()).toEqual([])
    const skipped = await load(raw, { wrong_cells: 'true', skip_invalid: 'true' })
    expect([skipped.status, skipped.body]).toMatchObject([200, { imported: 1, refused: 3, problems: wrong }])
    expect(await stored()).toMatchObject([{ name: 'a', price: 1 }])
  })

  test('stay out of what is listed unless they are asked for', async () => {
    expect(JSON.stringify((await load(raw)).body)).not.toMatch(/"cells"|"reasons"/)
  })

  test('of NDJSON are shown with their line', async () => {
    const line = '{"name":"", "price":1}'
    const { body } = await load(line, { wrong_cells: 'true' }, 'application/x-ndjson')
    expect(body).toMatchObject({ details: { lines: [{ fields: ['name'], cells: [line] }] } })
  })

  test('are mended by sending these lines alone, as arrays, in which numbers of a workbook stay numbers', async () => {
    const lines = [
      ['name', 'price', 'due', 'buyer', 'note'],
      ['Ann', '1.234,5', '3/4/2026', 'Acme', 7],
      ['Bob', 12.5, '', '', true],
    ]
    const formats = JSON.stringify({ price: 'comma', due: 'dmy' })
    const text = lines.map((line) => JSON.stringify(line)).join('\n')
    const sent = await load(text, { rows: 'arrays', formats }, 'application/x-ndjson')
    expect(sent.body).toEqual({ imported: 2 })
    expect(await stored()).toMatchObject([
      { name: 'Ann', price: 1234.5, due: '2026-04-03', note: 7 },
      { name: 'Bob', price: 12.5, note: true },
    ])
  })

  test.each([
    ['{"a":1}'],
    ['["a"]\n[{}]'],
    ['["a"]\n[1'],
    [JSON.stringify(Array.from({ length: 501 }, String))],
  ])('%s is no table of arrays', async (text) => {
    const { status, body } = await load(text, { rows: 'arrays' }, 'application/x-ndjson')
    expect([status, textAt(body, 'message')]).toEqual([
      400,
      expect.stringMatching(/^Line [12] is no JSON array/),
    ])
    expect(await stored()).toEqual([])
  })

  test('an array of more than 2,000,000 bytes is refused', async () => {
    const text = `["name"]\n["${'x'.repeat(2_000_000)}"]`
    const { status, body } = await load(text, { rows: 'arrays' }, 'application/x-ndjson')
    expect([status, textAt(body, 'message')]).toEqual([
      400,
      'Line 2 has more than 2000000 bytes. Nothing was imported.',
    ])
    expect(await stored()).toEqual([])
  })

  test('of a conflict that only shows when lines are written are listed too, and nothing stays', async () => {
    await createField(fixture.database, { name: 'code', type: 'string', unique: true, storage }, by)
    const rows = Array.from({ length: 450 }, (_, n) => `a${n},c${n % 400}`)
    const { status, body } = await load(`name,code\n${rows.join('\n')}`, { wrong_cells: 'true' })
    expect([status, body]).toMatchObject([
      409,
      { details: { lines: [{ line: 402, fields: ['code'], cells: ['a400', 'c0'] }] } },
    ])
    expect(await stored()).toEqual([])
  })

  test('of 100,000 lines that are all wrong, the first 1,000 are listed, and the numbers of all', async () => {
    const text = `name,price\n${',x\n'.repeat(100_000)}`
    const refused = await load(text, { wrong_cells: 'true' })
    const lines =
      isJsonObject(refused.body) && isJsonObject(refused.body.details) ? refused.body.details.lines : []
    expect(objectsIn(lines ?? null)).toHaveLength(1_000)
    const { body } = await load(`${text}a,1\n`, { wrong_cells: 'true', skip_invalid: 'true' })
    expect(body).toMatchObject({ imported: 1, refused: 100_000, refused_lines: '2-100001' })
    expect(objectsIn(isJsonObject(body) ? body.problems : undefined)).toHaveLength(1_000)
  })

  test('of long texts are listed without their cells where those are more than 4,000,000 characters', async () => {
    const long = `${'<b>\u05d0'.repeat(1_250)}`
    const { body } = await load(`name,price\n${`${long},x\n`.repeat(1_000)}`, { wrong_cells: 'true' })
    const lines = isJsonObject(body) && isJsonObject(body.details) ? objectsIn(body.details.lines) : []
    expect(lines.filter(({ cells }) => cells)).toHaveLength(799)
    expect(lines[0]?.cells).toEqual([long, 'x'])
  })
})

test('a column without a name can be left out', async () => {
  expect((await load('name,\na,b\n')).status).toBe(400)
  expect((await load('name,\na,b\n', { mapping: '{"":null}' })).body).toEqual({ imported: 1 })
  expect(await stored()).toEqual([{ name: 'a' }])
})

test('an import that is being undone is not forgotten when others end meanwhile', async () => {
  const imported = async (name: string) =>
    textAt((await load(`name\n${name}`, { undo: 'true' })).body, 'undo')
  const id = await imported('first')
  const mark = setFields({ kind: 'undoing' })
  await transact(fixture.database, (session) => session.update('_imports', id, mark))
  for (let n = 0; n < 21; n += 1) await imported('a')
  const path = `/_system/storages/${storage}/documents/imports/${id}`
  expect((await fixture.send('DELETE', path, 'admin')).body).toEqual({ deleted: 1, left: 0 })
  expect((await stored()).some(({ name }) => name === 'first')).toBe(false)
})

describe('an import and its node', () => {
  const rows = async function* (count: number, before: (n: number) => void = () => undefined) {
    for (let n = 1; n <= count; n++) {
      before(n)
      yield { line: n, size: 2, read: () => ({ document: { n }, reasons: {} }) }
    }
  }
  const open = (free = () => Promise.resolve(1024 ** 4)) =>
    openDocumentImports({
      database: validated(),
      directory: join(fixture.directory, 'others'),
      newGuid: () => randomUUID(),
      free,
    })
  const validated = () => fixture.context.records.database
  const one = (name: string) =>
    fixture.send('POST', `/_system/storages/${name}/documents/import`, 'admin', {
      raw: '{"a":1}',
      type: 'application/x-ndjson',
    })
  async function* bytes(count: number, size: number) {
    for (let n = 0; n < count; n++) yield Buffer.alloc(size, 10)
  }

  test('a full disk is not the fault of the client, and leaves nothing', async () => {
    const name = 'no_disk'
    await fixture.make(name)
    const imports = await open(() => Promise.resolve(100 * 1024 ** 2))
    const database = asSystem(validated())
    await expect(imports.run(name, bytes(20, 1024 ** 2), {}, { database })).rejects.toMatchObject({
      code: 'STORAGE_FULL',
    })
    // A small one is taken: the disk is looked at now and then.
    expect(await imports.run(name, bytes(1, 10), {}, { database })).toMatchObject({ imported: 0 })
    expect(await readdir(join(fixture.directory, 'others'))).toEqual([])
    const directory = join(fixture.directory, 'imports')
    await rm(directory, { recursive: true })
    await writeFile(directory, '')
    expect((await one(name)).status).toBe(500)
    await rm(directory)
    expect((await one(name)).status).toBe(200)
    await imports.close()
  })

  test('more than 16 at once are refused with when to try again', async () => {
    await fixture.make('at_once')
    const imports = await open()
    const database = asSystem(validated())
    const ends: (() => void)[] = []
    async function* slow() {
      yield Buffer.from('{"a":1}')
      await new Promise<void>((resolve) => void ends.push(resolve))
    }
    const all = Array.from({ length: 16 }, () => imports.run('at_once', slow(), {}, { database }))
    await expect(imports.run('at_once', bytes(1, 10), {}, { database })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: '16 imports are under way. Try again when one has ended.',
    })
    await expect.poll(() => ends).toHaveLength(16)
    for (const end of ends) end()
    await Promise.all(all)
    expect(await fixture.database.session().count('at_once', matchAll)).toBe(16)
    expect(await imports.run('at_once', bytes(1, 10), {}, { database })).toMatchObject({ imported: 0 })
    await imports.close()
  })

  test('a stop waits for no more lines than those of a batch, also while they are tried', async () => {
    await fixture.make('stopped')
    const imports = await open()
    let seen = 0
    let closing: Promise<void> | undefined
    const read = () =>
      rows(10_000, (n) => {
        seen = n
        if (n === 250) closing = imports.close()
      })
    const options = { database: asSystem(validated()), rows: read }
    await expect(imports.run('stopped', bytes(1, 10), {}, options)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The node is stopping. Nothing was imported.',
    })
    await closing
    expect(seen).toBeLessThan(1_000)
    expect(await fixture.database.session().count('stopped', matchAll)).toBe(0)
  })

  test('a preview writes nothing while it reads, since others would wait', async () => {
    const createAll = vi.spyOn(Object.getPrototypeOf(fixture.database.session()), 'createAll')
    const before = createAll.mock.calls.length
    expect((await preview(`name\n${'a\n'.repeat(10)}"b`)).status).toBe(400)
    expect(createAll.mock.calls.length).toBe(before)
    expect((await preview(`name\n${'a\n'.repeat(10)}`)).status).toBe(200)
    expect(createAll.mock.calls.length).toBeGreaterThan(before)
    createAll.mockRestore()
  })

  test('what a node was receiving when it ended is removed by the next, and not by a command beside it', async () => {
    const directory = join(fixture.directory, 'others')
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'left.ndjson'), 'x')
    const offline = await open()
    expect(await readdir(directory)).toEqual(['left.ndjson'])
    await offline.close()
    const node = await open()
    await node.begin(() => undefined)
    expect(await readdir(directory)).toEqual([])
    await node.close()
  })
})
