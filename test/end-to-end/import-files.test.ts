/** quoin import-from csv and xlsx: folders of tables as storages with references, on both engines. */
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCommandFixture } from '../command-fixture.ts'
import { type ImportFixture, openImportFixture } from '../import-fixture.ts'
import { messyWorkbook } from '../messy-workbook.ts'

let fixture: ImportFixture
beforeAll(async () => {
  fixture = await openImportFixture()
})
afterAll(() => fixture.close())

const storages = async () => {
  const found = await fixture.manage('POST', '/_system/storages/search', { limit: 100 })
  return (Array.isArray(found) ? found : []).map((one) => String(Object(one).name)).sort()
}
const done = (...lines: readonly string[]) => expect.stringContaining(lines.join('\n'))

test.each<[string, Record<string, string>, string[], number, string]>([
  ['a kind that is not known', {}, ['accdb'], 2, 'There is no kind "accdb". Use one of: csv, xlsx'],
  ['an empty folder', {}, ['csv'], 1, 'has no files that end with .csv, .tsv or .xlsx'],
  ['other files', { 'a.json': '[]' }, ['csv'], 1, 'has no files that end with'],
  ['a workbook that is none', { 'a.xlsx': 'name\n' }, ['xlsx'], 1, 'a.xlsx: the file is no XLSX'],
  [
    'a CSV with a quote that is open',
    { 'a.csv': 'x\n"b\n' },
    ['csv'],
    1,
    'a.csv: the file has a quote in line 2',
  ],
  [
    '100,000 columns',
    { 'a.csv': `${'a,'.repeat(100_000)}\n` },
    ['csv'],
    1,
    'a.csv: the file has more than 500 columns in line 1',
  ],
  ['flags that are no JSON', { 'a.csv': 'x\n1\n' }, ['csv', '--key', '['], 2, '--key'],
  [
    'a type that is not known',
    { 'a.csv': 'x\n1\n' },
    ['csv', '--types', '{"a.x":"colour"}'],
    2,
    'the type "colour"',
  ],
  [
    'a field that is not there',
    { 'a.csv': 'x\n1\n' },
    ['csv', '--types', '{"a.y":"line"}'],
    2,
    'names "a.y"',
  ],
  [
    'a key that is not there',
    { 'a.csv': 'x\n1\n' },
    ['csv', '--key', '{"a":"y"}'],
    2,
    'names the column "y" of a',
  ],
  [
    'a decimal mark that is none',
    { 'a.csv': 'x\n1\n' },
    ['csv', '--decimal', 'dot'],
    2,
    '--decimal is point or comma',
  ],
  [
    'wrong cells',
    { 'a.csv': `id,amount\n${Array.from({ length: 20 }, (_, at) => `${at},${at}.5\n`).join('')}20,dear\n` },
    ['csv', '--yes'],
    1,
    'a.csv line 22: amount is not a number. It is "dear".\n1 row cannot be imported. Nothing was imported.',
  ],
  [
    'two rows of one key',
    { 'a.csv': 'number,x\n1,a\n1,b\n2,c\n' },
    ['csv', '--yes', '--key', '{"a":"number"}'],
    1,
    'a.csv line 3: number is the key of an earlier row. It is "1".',
  ],
  [
    'a row without a key',
    { 'a.csv': 'id,x\n1,a\n,b\n' },
    ['csv', '--yes', '--key', '{"a":"id"}'],
    1,
    'a.csv line 3: id is empty, and is the key of the rows.',
  ],
  [
    'more cells than columns',
    { 'a.csv': 'id,x\n1,a\n2,b,c\n' },
    ['csv', '--yes'],
    1,
    'a.csv line 3: There are 3 cells, but the file has 2 columns.',
  ],
])('%s: refused, and nothing is made', async (_what, contents, [kind = '', ...flags], code, line) => {
  const folder = await fixture.files(contents)
  const end = await fixture.importFrom(kind, folder, ...flags)
  expect([end.code, end.complained]).toEqual([code, done(line)])
  expect(await storages()).toEqual([])
})

test('a user without rights imports nothing', async () => {
  await fixture.addUser('viewer', ['storages_view'])
  const folder = await fixture.files({ 'a.csv': 'id\n1\n' })
  const end = await fixture.importFrom('csv', folder, '--yes', '--remote', 'nowhere')
  expect(end.code).toBe(2)
  expect(await storages()).toEqual([])
})

const shop = {
  'customers.csv':
    'id,Name,Since,E-Mail,Vat No\n1,Acme,2020-01-31,a@acme.example,00123\n2,"Bolt, Inc",2021-02-01,b@bolt.example,00456\n',
  'orders.csv':
    'Number;Customer;Total;Paid;Date;Note\nA1;Acme;"1.234,50";yes;31.12.2025;=1+1\nA2;Bolt, Inc;"7,25";no;1.1.2026;"<b>x</b>"\n',
  'tasks.csv': 'id,title,parent\n1,Root,3\n2,Child,1\n3,Grandchild,2\n',
}

test('a dry run says what there is, and makes nothing', async () => {
  const end = await fixture.importFrom('csv', await fixture.files({ ...shop, 'readme.md': '#' }))
  expect(end).toEqual({
    code: 0,
    complained: '',
    printed: [
      'customers (customers.csv): 2 rows, found again by id',
      '  id\tinteger, unique',
      '  Name\tstring',
      '  Since\tday',
      '  e_mail\temail, was E-Mail',
      '  vat_no\tstring, was Vat No',
      'orders (orders.csv): 2 rows, found again by Number',
      '  Number\tstring, unique',
      '  Customer\treference to customers',
      '  Total\tnumber',
      '  Paid\tboolean',
      '  Date\tday',
      '  Note\tstring',
      'tasks (tasks.csv): 3 rows, found again by id',
      '  id\tinteger, unique',
      '  title\tstring',
      '  parent\treference to tasks',
      'What cannot be said, or is left out:',
      '  readme.md is left out: it is no .csv, .tsv or .xlsx file.',
      'Nothing was changed. Import with --yes.',
    ].join('\n'),
  })
  expect(await storages()).toEqual([])
})

test('a folder becomes storages with references, circles too; again it brings changes only', async () => {
  const first = await fixture.importFrom('csv', await fixture.files(shop), '--yes')
  expect([first.code, first.complained]).toEqual([0, ''])
  expect(first.printed).toEqual(
    done(
      'customers: 2 new, 0 changed, 0 the same, 0 left out.',
      'orders: 2 new, 0 changed, 0 the same, 0 left out.',
      'tasks: 3 new, 0 changed, 0 the same, 0 left out.',
    ),
  )
  const customers = await fixture.documents('customers')
  const guids = new Map(customers.map((one) => [one.Name, Object(one._meta).guid]))
  expect(await fixture.stored('customers')).toEqual([
    { id: 1, Name: 'Acme', Since: '2020-01-31', e_mail: 'a@acme.example', vat_no: '00123' },
    { id: 2, Name: 'Bolt, Inc', Since: '2021-02-01', e_mail: 'b@bolt.example', vat_no: '00456' },
  ])
  expect(await fixture.stored('orders')).toEqual([
    {
      Number: 'A1',
      Customer: guids.get('Acme'),
      Total: 1234.5,
      Paid: true,
      Date: '2025-12-31',
      Note: '=1+1',
    },
    {
      Number: 'A2',
      Customer: guids.get('Bolt, Inc'),
      Total: 7.25,
      Paid: false,
      Date: '2026-01-01',
      Note: '<b>x</b>',
    },
  ])
  expect(await fixture.fields('orders')).toMatchObject({
    Customer: 'reference customers',
    Number: 'string unique',
  })
  const tasks = await fixture.documents('tasks')
  expect(
    tasks.map(({ id, parent }) => [id, tasks.find(({ _meta }) => Object(_meta).guid === parent)?.id]),
  ).toEqual([
    [1, 3],
    [2, 1],
    [3, 2],
  ])

  const again = await fixture.importFrom('csv', await fixture.files(shop), '--yes')
  expect(again.printed).toEqual(
    done(
      'customers: 0 new, 0 changed, 2 the same, 0 left out.',
      'orders: 0 new, 0 changed, 2 the same, 0 left out.',
      'tasks: 0 new, 0 changed, 3 the same, 0 left out.',
    ),
  )
  const changed = {
    ...shop,
    'customers.csv': `${shop['customers.csv'].replace('Acme', 'Acme Ltd').replace(',00456', ',')}3,Crane,,,\n`,
  }
  const third = await fixture.importFrom('csv', await fixture.files(changed), '--yes', '--skip-invalid')
  expect(third.printed).toEqual(done('customers: 1 new, 2 changed, 0 the same, 0 left out.'))
  // The order names a customer that is called otherwise now.
  expect(third.printed).toEqual(done('orders: 0 new, 0 changed, 1 the same, 1 left out.'))
  expect(third.complained).toBe('orders.csv line 2: Customer is no row of customers by Name. It is "Acme".')
  expect(await fixture.stored('customers')).toMatchObject([
    { Name: 'Acme Ltd', vat_no: '00123' },
    { Name: 'Bolt, Inc', vat_no: null },
    { Name: 'Crane' },
  ])
})

test('what was removed in Quoin stays removed, and what Quoin refuses is listed with its row', async () => {
  await fixture.importFrom('csv', await fixture.files({ 'goods.csv': 'id,ean\n1,a\n2,b\n' }), '--yes')
  const [one] = await fixture.documents('goods')
  await fixture.manage('DELETE', `/_system/storages/goods/documents/${Object(one?._meta).guid}`)
  const found = await fixture.manage('POST', '/blueprintfields/search', {
    filters: { storage: 'goods', name: 'ean' },
  })
  const [field] = Array.isArray(found) ? found : []
  await fixture.manage('PUT', `/blueprintfields/${Object(Object(field)._meta).guid}`, { unique: true })
  const folder = await fixture.files({ 'goods.csv': 'id,ean\n1,a\n2,b\n3,b\n4,c\n' })
  const end = await fixture.importFrom('csv', folder, '--yes')
  expect(end.code).toBe(1)
  expect(end.printed).toEqual(done('goods: 1 new, 0 changed, 1 the same, 2 left out.'))
  expect(end.complained).toMatch(
    /^goods\.csv line 2: Its document was removed in Quoin, and stays removed\.\ngoods\.csv line 4: .*ean/,
  )
})

test('again nothing is written where a default stands for an empty cell, and a text is composed in another way', async () => {
  const files = { 'boats.csv': 'id,state,name\n1,open,A\n2,,Mu\u0308ller\n' }
  await fixture.importFrom('csv', await fixture.files(files), '--yes')
  const found = await fixture.manage('POST', '/blueprintfields/search', {
    filters: { storage: 'boats', name: 'state' },
  })
  const [field] = Array.isArray(found) ? found : []
  await fixture.manage('PUT', `/blueprintfields/${Object(Object(field)._meta).guid}`, {
    default_value: 'new',
  })
  const load = async () => {
    const rows = `${files['boats.csv']}3,,C\n`
    return (await fixture.importFrom('csv', await fixture.files({ 'boats.csv': rows }), '--yes')).printed
  }
  expect(await load()).toEqual(done('boats: 1 new, 1 changed, 1 the same, 0 left out.'))
  expect(await load()).toEqual(done('boats: 0 new, 0 changed, 3 the same, 0 left out.'))
  expect((await fixture.stored('boats')).map(({ state, name }) => [state, name])).toEqual([
    ['open', 'A'],
    ['new', 'M\u00fcller'],
    ['new', 'C'],
  ])
})

test('an import that was interrupted goes on where it was', async () => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `${from + at},name ${from + at}\n`).join('')
  // What an interrupted import leaves: the first batches.
  await fixture.importFrom('csv', await fixture.files({ 'many.csv': `id,name\n${rows(0, 700)}` }), '--yes')
  const end = await fixture.importFrom(
    'csv',
    await fixture.files({ 'many.csv': `id,name\n${rows(0, 1_300)}` }),
    '--yes',
  )
  expect(end.printed).toEqual(done('many: 600 new, 0 changed, 700 the same, 0 left out.'))
  expect((await fixture.stored('many')).map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 1_300 }, (_, at) => at),
  )
})

test('names that are not allowed are made fit, types can be said, links are not followed', async () => {
  const folder = await fixture.files({
    '2024 Übersicht!.csv': 'Größe.cm,größe cm,<b>x</b>,__proto__,\n1.5,a,c,z,\n',
    'dates.csv': 'day,code\n03/04/2026,1\n',
  })
  await symlink('/etc/passwd', join(folder, 'passwd.csv'))
  const dry = await fixture.importFrom('csv', folder)
  expect(dry.printed).toEqual(
    done(
      '  passwd.csv is left out: it is no .csv, .tsv or .xlsx file.',
      '  dates.csv: day stays text: "03/04/2026" may be',
    ),
  )
  const end = await fixture.importFrom(
    'csv',
    folder,
    '--yes',
    '--dates',
    'dmy',
    '--types',
    '{"dates.code":"string"}',
  )
  expect([end.code, end.complained]).toEqual([0, ''])
  expect(await fixture.stored('ubersicht')).toEqual([
    { grosse_cm: 1.5, grosse_cm_2: 'a', b_x_b: 'c', proto: 'z' },
  ])
  expect(await fixture.stored('dates')).toEqual([{ day: '2026-04-03', code: '1' }])
})

test('a column that nearly has a type stays text and is named; --types takes it and lists what does not fit', async () => {
  const folder = await fixture.files({
    'bills.csv':
      'id;due;sum;paid;payer\n1;28.01.2026;1,5;ja;1\n2;29.02.2026;abc;nein;2\n3;28.03.2026;2,5;ja;9\n',
    'payers.csv': 'id,name\n1,Ann\n2,Bob\n',
  })
  const dry = await fixture.importFrom('csv', folder, '--skip-invalid')
  expect(dry.printed).toEqual(done('  due\tstring', '  sum\tstring', '  paid\tboolean'))
  const hint = (name: string, type: string) =>
    `--types '{"bills.${name}":"${type}"}' makes it ${type} and lists values that do not fit; --skip-invalid leaves their rows out.`
  expect(dry.printed).toEqual(
    done(
      'What cannot be said, or is left out:',
      `  bills.csv: due stays text: 2 of 3 values fit day; line 3 has 29.02.2026. ${hint('due', 'day')}`,
      `  bills.csv: sum stays text: 2 of 3 values fit number; line 3 has abc. ${hint('sum', 'number')}`,
      'Nothing was changed.',
    ),
  )
  const types = ['--types', '{"bills.due":"day","bills.sum":"number"}']
  const taken = await fixture.importFrom('csv', folder, '--yes', '--skip-invalid', ...types)
  expect(taken.complained).toEqual(
    expect.stringMatching(
      /^bills\.csv line 3: sum is not a number\. It is "abc"\.\nbills\.csv line 3: due must be a day/,
    ),
  )
  expect(taken.printed).not.toContain('stays text')
  expect(await fixture.stored('bills')).toMatchObject([{ due: '2026-01-28', sum: 1.5, paid: true }])
  // The fields are there now, and are no longer guessed.
  expect((await fixture.importFrom('csv', folder, '--skip-invalid')).printed).not.toContain('stays text')
})

test('a workbook with a title above its names, whose other sheets are listed', async () => {
  const workbook = await messyWorkbook([
    {
      name: 'People',
      title: 'Our people',
      rows: [
        ['Code', 'Age'],
        ['p1', 41],
        ['p2', 7],
      ],
    },
    { name: 'Old', rows: [['x'], [1]] },
  ])
  const end = await fixture.importFrom('xlsx', await fixture.files({ 'people.xlsx': workbook }), '--yes')
  expect(end.printed).toEqual(done('  people.xlsx: the sheet Old is left out. Save it as a file of its own.'))
  expect(await fixture.stored('people')).toEqual([
    { Code: 'p1', Age: 41 },
    { Code: 'p2', Age: 7 },
  ])
})

test('it works on the data directory too, while no server runs', async () => {
  const local = await openCommandFixture('on the data directory')
  try {
    const folder = await fixture.files(shop)
    const first = await local.run(['import-from', 'csv', folder, '--yes'])
    expect([first.code, first.complained]).toEqual([0, ''])
    const again = await local.run(['import-from', 'csv', folder, '--yes'])
    expect(again.printed).toEqual(done('orders: 0 new, 0 changed, 2 the same, 0 left out.'))
  } finally {
    await local.close()
  }
})
