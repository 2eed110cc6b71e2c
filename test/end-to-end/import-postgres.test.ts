/** quoin import-from postgres: a schema of a real server as storages, on both engines. */
import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { type ImportFixture, openImportFixture } from '../import-fixture.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'

let place: AssetPlace
let fixture: ImportFixture
let source: TemporaryDatabase
let client: Client
beforeAll(async () => {
  place = await openAssetPlace()
  fixture = await openImportFixture(place.settings)
  source = await openTemporaryDatabase()
  client = new Client({ connectionString: source.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await source.drop()
  await fixture.close()
  await place.close()
})

/** Replaces what the source has. */
async function sql(text: string): Promise<void> {
  await client.query(
    'DROP SCHEMA IF EXISTS public CASCADE; DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA public',
  )
  await client.query(text)
}
const importAll = (...flags: readonly string[]) => fixture.importFrom('postgres', source.url, ...flags)
const storages = async () => {
  const found = await fixture.manage('POST', '/_system/storages/search', { limit: 100 })
  return (Array.isArray(found) ? found : []).map((one) => String(Object(one).name)).sort()
}
async function bytesOf(file: JsonValue | undefined): Promise<number[]> {
  const path = `/api/v1/_system/assets/${String(Object(file).guid)}/content`
  const headers = { authorization: `Bearer ${await fixture.tokenOf('admin')}` }
  const reply = await fetch(`${fixture.url}${path}`, { headers })
  expect(reply.status).toBe(200)
  return [...new Uint8Array(await reply.arrayBuffer())]
}
const has = (...lines: readonly string[]) => expect.stringContaining(lines.join('\n'))

test.each<[string, string, string[], number, string]>([
  ['no address', 'shop', [], 2, 'The source is an address such as postgres://'],
  [
    'a server that is not there',
    'postgres://ann:tr0ub4dor@127.0.0.1:1/shop',
    [],
    1,
    'PostgreSQL: connect ECONNREFUSED',
  ],
  [
    'flags of tables',
    'postgres://127.0.0.1/shop',
    ['--dates', 'dmy'],
    2,
    'import-from postgres does not take --dates',
  ],
])('%s is refused, without its password', async (_what, address, flags, code, line) => {
  const end = await fixture.importFrom('postgres', address, ...flags)
  expect([end.code, end.complained]).toEqual([code, has(line)])
  expect(end.complained + end.printed).not.toContain('tr0ub4dor')
})

test.each<[string, string, string[], number, string]>([
  ['a database that is called as the password', '', [], 1, 'PostgreSQL: database "…" does not exist'],
  ['a schema without tables', '', ['--schema', 'nothing'], 1, 'The schema nothing has no tables'],
  [
    'a time zone that is none',
    'CREATE TABLE a (id int)',
    ['--time-zone', "x'; DROP"],
    2,
    '--time-zone is a name',
  ],
  [
    'a column that is not there',
    'CREATE TABLE a (id int)',
    ['--types', '{"a.b":"string"}'],
    2,
    'names "a.b"',
  ],
  [
    'values that Quoin does not have',
    `CREATE TABLE a (id int PRIMARY KEY, n float8, big int8, d date, at timestamptz[]);
     INSERT INTO a VALUES (1, 'NaN', 1, '2026-01-01'), (2, 1.5, 9223372036854775807, 'infinity'), (3, 0.1, 3, '0044-03-15 BC');
     INSERT INTO a VALUES (4, 0, 0, NULL, '{2026-01-01 00:00+00,infinity}')`,
    ['--yes'],
    1,
    [
      'public.a id 1: n is not a number that Quoin has. It is "NaN".',
      'public.a id 2: big has more digits than a number keeps. It is "9223372036854775807".',
      'public.a id 2: d must be a day such as 2026-01-31. It is "infinity".',
      'public.a id 3: d must be a day such as 2026-01-31. It is "0044-03-15 BC".',
      'public.a id 4: at has an item 2 that must be a time with a time zone such as 2026-01-31T09:00:00Z. It is ["2026-01-01T00:00:00.000Z","infinity"].',
      '4 rows cannot be imported. Nothing was imported.',
    ].join('\n'),
  ],
])('%s: refused, and nothing is made', async (what, text, flags, code, line) => {
  await sql(text)
  const address = what.startsWith('a database')
    ? source.url.replace(/[^/]+$/, 'nowhere').replace('@', ':nowhere@')
    : source.url
  const end = await fixture.importFrom('postgres', address, ...flags)
  expect([end.code, end.complained]).toEqual([code, has(line)])
  expect(await storages()).toEqual([])
})

const shop = `
  CREATE TYPE state AS ENUM ('open', 'paid');
  CREATE DOMAIN price AS numeric(12, 2) CHECK (VALUE >= 0);
  CREATE TABLE customers (id serial PRIMARY KEY, "Full Name" varchar(80) NOT NULL, email text UNIQUE, since date NOT NULL,
    boss int REFERENCES customers, photo bytea);
  CREATE TABLE lines (invoice int, place int, good text, PRIMARY KEY (invoice, place));
  CREATE TABLE orders (number text PRIMARY KEY, customer int NOT NULL REFERENCES customers, state state DEFAULT 'open',
    total price, weight numeric, at timestamptz, local timestamp, paid boolean, data jsonb, mixed json, tags text[],
    counts int[], states state[], ids uuid, took interval, by_mail text REFERENCES customers (email),
    invoice int, place int, CONSTRAINT first_line FOREIGN KEY (invoice, place) REFERENCES lines, CHECK (total < 1000000));
  CREATE VIEW paid AS SELECT * FROM orders;
  INSERT INTO customers ("Full Name", email, since, boss, photo) VALUES ('Ann', 'ann@x.example', '2020-02-29', 2, '\\x00ff'), ('Bob', NULL, '2021-01-01', NULL, NULL);
  INSERT INTO lines VALUES (7, 1, 'Nail');
  INSERT INTO orders VALUES ('A1', 1, 'paid', 1234.50, 0.000001, '2026-03-28 09:00:00.123456+01', '2026-07-01 12:00', true,
      '{"a": [1, 2.5, null]}', '1', '{x,"y,z"}', '{1,2}', '{open,paid}', '6f1c2d34-0000-4000-8000-000000000001', '1 day 2 hours', 'ann@x.example', 7, 1),
    ('<b>', 2, 'open', NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`

test('a dry run lists types, references and what cannot be said, and makes nothing', async () => {
  await sql(shop)
  const end = await importAll()
  expect([end.code, end.complained]).toEqual([0, ''])
  expect(end.printed.split('\n')).toEqual([
    'customers (public.customers): 2 rows and 1 file of 2 bytes, found again by id',
    '  id\tinteger, required, unique',
    '  full_name\tstring, at most 80 characters, was Full Name',
    '  email\tstring, unique',
    '  since\tday, required',
    '  boss\treference to customers',
    '  photo\tfile',
    'lines (public.lines): 1 row, found again by invoice, place',
    '  invoice\tinteger, required, unique with lines_pkey',
    '  place\tinteger, required, unique with lines_pkey',
    '  good\tstring',
    'orders (public.orders): 2 rows, found again by number',
    '  number\tstring, unique',
    '  customer\treference to customers, required',
    '  state\tchoice, of 2 choices',
    '  total\tdecimal, 2 places',
    '  weight\tnumber',
    '  at\tinstant',
    '  local\tinstant',
    '  paid\tboolean',
    '  data\tobject',
    '  mixed\tstring',
    '  tags\tlist, of string',
    '  counts\tlist, of integer',
    '  states\tchoices, of 2 choices',
    '  ids\tstring',
    '  took\tstring',
    '  by_mail\treference to customers',
    '  invoice\tinteger',
    '  place\tinteger',
    '  first_line\treference to lines',
    'What cannot be said, or is left out:',
    '  public.paid is left out: it is no table.',
    '  public.customers: photo holds bytes: each value becomes a file.',
    '  public.customers: Full Name may hold an empty text, list or file, so that the field is not required.',
    '  public.customers: id counts up in the source, and does not here.',
    '  public.orders: local has no time zone: it is read as a time of UTC. Say another one with --time-zone.',
    '  public.orders: mixed is text here: its values are not all objects, or all lists.',
    '  public.orders: took is text here, and interval in the source.',
    '  public.orders: invoice, place together refer to public.lines: the reference is the field first_line.',
    '  public.orders: number may hold an empty text, list or file, so that the field is not required.',
    '  public.orders: state has a default, which is not taken over.',
    '  public.orders: not taken over: check orders_total_check.',
    'Nothing was changed. Import with --yes.',
  ])
  expect(await storages()).toEqual([])
})

test('rows become documents, exactly; again it brings changes only', async () => {
  await sql(shop)
  const first = await importAll('--yes', '--time-zone', 'Europe/Berlin')
  expect([first.code, first.complained]).toEqual([0, ''])
  expect(first.printed).toEqual(
    has(
      'customers: 2 new, 0 changed, 0 the same, 0 left out.',
      'customers: 1 file uploaded, 0 the same, 0 left out.',
      'lines: 1 new, 0 changed, 0 the same, 0 left out.',
      'orders: 2 new, 0 changed, 0 the same, 0 left out.',
    ),
  )
  const customers = await fixture.documents('customers')
  const guid = (name: string) => Object(customers.find((one) => one.full_name === name)?._meta).guid
  expect(customers.find(({ full_name: name }) => name === 'Ann')).toMatchObject({
    id: 1,
    since: '2020-02-29',
    boss: guid('Bob'),
    photo: { name: 'photo-d07d34efac63.bin', size: 2 },
  })
  expect(await bytesOf(customers.find(({ full_name: name }) => name === 'Ann')?.photo)).toEqual([0, 255])
  const [line] = await fixture.documents('lines')
  expect(await fixture.stored('orders')).toEqual([
    {
      ...{ number: 'A1', customer: guid('Ann'), state: 'paid', total: 1234.5, weight: 0.000001 },
      ...{
        at: '2026-03-28T08:00:00.123Z',
        local: '2026-07-01T10:00:00.000Z',
        paid: true,
        data: { a: [1, 2.5, null] },
      },
      ...{ mixed: '1', tags: ['x', 'y,z'], counts: [1, 2], states: ['open', 'paid'], took: 'P1DT2H' },
      ...{ ids: '6f1c2d34-0000-4000-8000-000000000001', by_mail: guid('Ann'), invoice: 7, place: 1 },
      first_line: Object(line?._meta).guid,
    },
    { number: '<b>', customer: guid('Bob'), state: 'open', mixed: '{}' },
  ])
  expect(await fixture.fields('orders')).toMatchObject({
    customer: 'reference customers required',
    number: 'string unique',
    state: 'choice {"choices":["open","paid"]}',
    total: 'decimal {"places":2}',
  })
  await client.query(
    `UPDATE orders SET state = 'paid', customer = 1 WHERE number = '<b>'; INSERT INTO lines VALUES (7, 2, 'Bolt');
     UPDATE customers SET photo = '\\x01ff' WHERE id = 1`,
  )
  const again = await importAll('--yes', '--time-zone', 'Europe/Berlin')
  expect(again.printed).toEqual(
    has(
      'customers: 0 new, 1 changed, 1 the same, 0 left out.',
      // Other bytes of the same length.
      'customers: 1 file uploaded, 0 the same, 0 left out.',
      'lines: 1 new, 0 changed, 1 the same, 0 left out.',
      'orders: 0 new, 1 changed, 1 the same, 0 left out.',
    ),
  )
})

test('bytes of many pieces, of rows without a key, and of partitions that have rows in the same place', async () => {
  await sql(`
    CREATE TABLE papers (word text, paper bytea NOT NULL);
    INSERT INTO papers SELECT 'long', decode(repeat(md5('x'), 300000), 'hex') UNION ALL SELECT 'empty', ''::bytea;
    CREATE TABLE scans (id int PRIMARY KEY, scan bytea) PARTITION BY RANGE (id);
    CREATE TABLE scans_one PARTITION OF scans FOR VALUES FROM (0) TO (9);
    CREATE TABLE scans_two PARTITION OF scans FOR VALUES FROM (9) TO (99);
    INSERT INTO scans VALUES (1, 'one'), (10, 'ten');`)
  const end = await importAll('--yes')
  expect([end.code, end.complained]).toEqual([0, ''])
  const papers = await fixture.documents('papers')
  const long = papers.find(({ word }) => word === 'long')
  const content = await bytesOf(long?.paper)
  const md5 = createHash('md5').update('x').digest()
  expect([content.length, content.slice(-16)]).toEqual([4_800_000, [...md5]])
  expect(papers.find(({ word }) => word === 'empty')?.paper ?? null).toBe(null)
  const scans = await fixture.documents('scans')
  const text = async (id: number) =>
    String.fromCharCode(...(await bytesOf(scans.find((one) => one.id === id)?.scan)))
  expect([await text(1), await text(10)]).toEqual(['one', 'ten'])
})

test('tables without a key, circles with required references, hostile names, partitions, other schemas', async () => {
  await sql(`
    CREATE TABLE log (word text, n int);
    INSERT INTO log VALUES ('a', 1), ('a', 1), (NULL, NULL);
    CREATE TABLE a (id int PRIMARY KEY, b int NOT NULL);
    CREATE TABLE b (id int PRIMARY KEY, a int NOT NULL REFERENCES a DEFERRABLE INITIALLY DEFERRED);
    ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b DEFERRABLE INITIALLY DEFERRED;
    BEGIN; INSERT INTO a VALUES (1, 2); INSERT INTO b VALUES (2, 1); COMMIT;
    CREATE TABLE "Robert'); DROP TABLE ""x""" (id int PRIMARY KEY, "<script>" text, "a.b" text, "A_B" text, "__proto__" text);
    INSERT INTO "Robert'); DROP TABLE ""x""" VALUES (1, 's', 'dot', 'under', 'p');
    CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE part_one PARTITION OF parts FOR VALUES FROM (0) TO (9);
    INSERT INTO parts VALUES (4);
    CREATE SCHEMA other; CREATE TABLE other.far (id int PRIMARY KEY);
    CREATE TABLE near (id int PRIMARY KEY, far int REFERENCES other.far);`)
  const end = await importAll('--yes')
  expect([end.code, end.complained]).toEqual([0, ''])
  for (const line of [
    'public.log has no key: rows are found again by what they hold.',
    'a.b is not required: it is part of a circle of references.',
    'public.near: far refers to other.far, which is not imported: it stays a plain value.',
    `public.Robert'); DROP TABLE "x": 1 row`,
  ])
    expect(end.printed.replace(/^\S+ \((public\.Robert.*)\)/m, '$1')).toContain(line)
  expect(await fixture.stored('log')).toHaveLength(3)
  const [a] = await fixture.documents('a')
  const [b] = await fixture.documents('b')
  expect([a?.b, b?.a]).toEqual([Object(b?._meta).guid, Object(a?._meta).guid])
  expect(await fixture.stored('robert_drop_table_x')).toEqual([
    { id: 1, script: 's', a_b: 'dot', A_B: 'under', proto: 'p' },
  ])
  expect(await fixture.stored('parts')).toEqual([{ id: 4 }])
  const again = await importAll('--yes')
  for (const storage of ['log', 'a', 'b', 'parts', 'near', 'robert_drop_table_x'])
    expect(again.printed).toMatch(new RegExp(`^${storage}: 0 new, 0 changed, \\d the same, 0 left out`, 'm'))
})

test('rows that change while they are read are read as they were', async () => {
  await sql(
    `CREATE TABLE many (id int PRIMARY KEY, word text); INSERT INTO many SELECT n, 'before' FROM generate_series(1, 3000) AS n`,
  )
  const { openPostgres } = await import('../../src/cli/import-from/postgres/postgres-source.ts')
  const opened = await openPostgres(source.url, { schema: 'public', timeZone: 'UTC', types: {} })
  const words = new Set<unknown>()
  let rows = 0
  try {
    for await (const { values } of opened.tables[0]?.rows() ?? []) {
      if (rows === 0) await client.query(`UPDATE many SET word = 'after'; DELETE FROM many WHERE id > 1000`)
      rows += 1
      words.add(values.word)
    }
    // The next table, and the same again, are of the same moment.
    for await (const { values } of opened.tables[0]?.rows() ?? []) words.add(values.word)
  } finally {
    await opened.close()
  }
  expect([rows, [...words]]).toEqual([3_000, ['before']])
})
