import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import eachRow from './each_row.ts'
import writeRows from './write_rows.ts'

const COUNT = 1_200

let fixture: FileFixture

beforeAll(async () => {
  fixture = await openFileFixture()
  await fixture.database.ensure('goods')
  const session = fixture.database.session()
  for (let n = 0; n < COUNT; n++)
    await session.create('goods', setFields({ n, name: `good ${n}`, low: n < 2, at: { city: `c${n}` } }))
  await session.transaction.commit()
})
afterEach(() => fixture.empty())
afterAll(() => fixture.close())

const write = (inputs: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
  fixture.run(writeRows, { inputs: { name: 'a.csv', ...inputs }, ...(signal && { signal }) })
/** What is in the newest a.csv after writing, without the mark of UTF-8. */
async function csv(inputs: Readonly<Record<string, unknown>>): Promise<string> {
  await write(inputs)
  const text = String(await fixture.content('a.csv'))
  expect(text[0]).toBe('\ufeff')
  return text.slice(1)
}

test.each<[string, Readonly<Record<string, unknown>>, JsonObject]>([
  ['neither list nor storage', {}, { pin: 'list', message: 'or storage is needed, and one of the two only' }],
  ['both', { list: [], storage: 'goods' }, { pin: 'list' }],
  ['no name', { list: [], name: undefined }, { pin: 'name', message: 'is empty' }],
  ['an empty name', { list: [], name: ' ' }, { code: 'INVALID_BODY' }],
  ['a storage of the cluster', { storage: '_user' }, { pin: 'storage' }],
  [
    'a list of no objects',
    { list: [{ a: 1 }, 2] },
    { pin: 'list', message: 'must be a list of objects; item 1 is none' },
  ],
  [
    'more than 10,000 items',
    { list: Array.from({ length: 10_001 }, () => ({})) },
    { pin: 'list', message: 'must hold at most 10,000 items' },
  ],
  ['columns that are no fields', { list: [{}], columns: ['a..b'] }, { pin: 'columns' }],
  ['columns that are no texts', { list: [{}], columns: [1] }, { pin: 'columns' }],
  [
    'more than 200 columns',
    { list: [{}], columns: Array.from({ length: 201 }, (_none, n) => `c${n}`) },
    { pin: 'columns', message: 'must be at most 200' },
  ],
  [
    'a label that is too long',
    { list: [{}], columns: [{ field: 'a', label: 'a'.repeat(201) }] },
    { pin: 'columns', message: 'must have labels of at most 200 characters' },
  ],
  ['a name with a slash', { list: [{}], name: '../a.csv' }, { code: 'INVALID_BODY' }],
])('refuses %s, and stores nothing', async (_what, inputs, problem) => {
  await expect(write(inputs)).rejects.toMatchObject(problem)
  expect([await fixture.records(), await fixture.onDisk()]).toEqual([[], 0])
})

test.each(['files', 'public'])(
  'a table in %s that fails half way leaves the former file, and nothing of its own',
  async (directory) => {
    await fixture.put('a.csv', 'old', directory)
    const failing = write({ list: [{ a: 1 }, 2], directory, replace: true })
    await expect(failing).rejects.toMatchObject({ pin: 'list' })
    expect([String(await fixture.content('a.csv')), await fixture.onDisk()]).toEqual(['old', 1])
  },
)

test('a run that is stopped stores nothing', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'))
  await expect(write({ list: [{ a: 1 }] }, stopped)).rejects.toThrow('stopped')
  expect([await fixture.records(), await fixture.onDisk()]).toEqual([[], 0])
})

test.each<[string, JsonValue, JsonValue | undefined, string]>([
  [
    'the fields of the first row',
    [
      { b: 1, a: true },
      { a: 'x', c: 2 },
    ],
    undefined,
    'b,a\r\n1,true\r\n,x\r\n',
  ],
  ['the same for no columns', [{ b: 1 }], [], 'b\r\n1\r\n'],
  ['no _meta', [{ _meta: { x: 1 }, a: 1 }], undefined, 'a\r\n1\r\n'],
  [
    'columns and labels in their order',
    [{ a: 1, at: { city: 'Bern' } }],
    [{ field: 'at.city', label: 'City, of it' }, 'a', 'none'],
    '"City, of it",a,none\r\nBern,1,\r\n',
  ],
  ['quotes and lines', [{ a: 'x "y"\nz' }], undefined, 'a\r\n"x ""y""\nz"\r\n'],
  ['marked formulas', [{ a: '=1+1', b: '-5' }], undefined, `a,b\r\n'=1+1,-5\r\n`],
  ['nothing of no rows', [], undefined, ''],
  ['a header of no rows', [], ['a', 'b'], 'a,b\r\n'],
])('CSV of a list has %s', async (_what, list, columns, text) => {
  expect(await csv({ list, columns })).toBe(text)
})

test('gives the file and the number of rows', async () => {
  const { outputs, next } = await write({ list: [{ a: 1 }, { a: 2 }], name: ' a.csv ' })
  expect({ outputs, next }).toEqual({
    next: 'flow',
    outputs: { count: 2, file: { guid: expect.any(String), name: 'a.csv', type: 'text/csv', size: 12 } },
  })
  expect(await fixture.records()).toMatchObject([{ directory: 'files', created_by: { username: 'ada' } }])
})

test('all documents of a storage over many pages, in their order', async () => {
  const { outputs } = await write({ storage: 'goods', sort: 'n desc', columns: ['n', 'at.city'] })
  expect(outputs.count).toBe(COUNT)
  const numbers = Array.from({ length: COUNT }, (_none, at) => COUNT - 1 - at)
  const lines = numbers.map((n) => `${n},c${n}\r\n`)
  expect(String(await fixture.content('a.csv'))).toBe(`\ufeffn,at.city\r\n${lines.join('')}`)
})

test.each([
  ['a query', { query: { kind: 'term', field: 'low', value: true } }, '0,1'],
  ['a condition', { where: { kind: 'term', field: 'name', value: 'good 7' } }, '7'],
  [
    'both together',
    {
      query: { kind: 'term', field: 'low', value: true },
      where: { kind: 'term', field: 'name', value: 'good 1' },
    },
    '1',
  ],
])('%s narrows the documents', async (_what, narrowed, numbers) => {
  const text = await csv({ storage: 'goods', sort: 'n', columns: ['n'], ...narrowed })
  expect(text.trim().split('\r\n').slice(1).join()).toBe(numbers)
})

test.each(['a.xlsx', ' A.XLSX '])('%j is a workbook, and gives its rows again', async (name) => {
  const { outputs } = await write({ storage: 'goods', sort: 'n', columns: ['n', 'name', 'low'], name })
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  expect(outputs).toMatchObject({ count: COUNT, file: { name: name.trim(), type } })
  const { passes } = await fixture.run(eachRow, { inputs: { file: outputs.file } })
  expect(passes.map(({ item }) => item)).toEqual(
    Array.from({ length: COUNT }, (_none, n) => ({ n, name: `good ${n}`, low: n < 2 })),
  )
})

test('a table that replaces deletes the former one of its name in its directory', async () => {
  await fixture.put('a.csv', 'old')
  await fixture.put('a.csv', 'elsewhere', 'deep')
  await write({ list: [{ a: 1 }], replace: true })
  await write({ list: [{ a: 22 }] })
  expect((await fixture.records()).map(({ directory, size }) => [directory, size])).toEqual([
    ['deep', 9],
    ['files', 9],
    ['files', 10],
  ])
})

test('columns of documents that others refer to hold what those documents have, also behind the first page', async () => {
  await fixture.database.ensure('customers')
  await fixture.database.ensure('orders')
  const session = fixture.database.session()
  const customers: string[] = []
  for (const fields of [
    { name: 'Ann', at: { city: 'Ulm' } },
    { name: 'Bob', at: { city: 'Bonn' } },
  ])
    customers.push(guidOf(documentOf(await session.create('customers', setFields(fields)))))
  const [ann = '', bob = ''] = customers
  for (let n = 0; n < 30; n++)
    await session.create('orders', setFields({ n, customer: n % 2 === 0 ? ann : bob }))
  await session.create('orders', setFields({ n: 30 }))
  await session.create('orders', setFields({ n: 31, customer: '01890000-0000-7000-8000-000000000000' }))
  await session.transaction.commit()
  const reference = { from: 'orders', field: 'customer', storage: 'customers', onDelete: 'refuse' } as const
  const columns = ['n', { field: 'customer.name', label: 'Customer' }, 'customer.at.city']
  const inputs = {
    name: 'a.csv',
    storage: 'orders',
    sort: [{ field: 'n', order: 'asc', missing: 'last' }],
    columns,
  }
  await fixture.run(writeRows, { inputs, references: () => [reference] })
  const lines = String(await fixture.content('a.csv'))
    .slice(1)
    .trim()
    .split('\r\n')
  expect([lines[0], lines[1], lines[2], lines[30]]).toEqual([
    'n,Customer,customer.at.city',
    '0,Ann,Ulm',
    '1,Bob,Bonn',
    '29,Bob,Bonn',
  ])
  expect(lines.slice(31)).toEqual(['30,,', '31,,'])
  // Of a list nothing is looked up: its objects are what they are.
  const listed = { name: 'a.csv', list: [{ customer: { name: 'Cem' } }], columns: ['customer.name'] }
  await fixture.run(writeRows, { inputs: listed, references: () => [reference] })
  expect(String(await fixture.content('a.csv'))).toContain('Cem')
})
