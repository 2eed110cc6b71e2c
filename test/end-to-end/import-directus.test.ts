/** quoin import-from directus: a schema snapshot and items in the formats of its documentation, on both engines. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type ImportFixture, openImportFixture } from '../import-fixture.ts'

let fixture: ImportFixture
beforeAll(async () => {
  fixture = await openImportFixture()
})
afterAll(() => fixture.close())

const storages = async () => {
  const found = await fixture.manage('POST', '/_system/storages/search', { limit: 100 })
  return (Array.isArray(found) ? found : []).map((one) => String(Object(one).name)).sort()
}
const has = (...lines: readonly string[]) => expect.stringContaining(lines.join('\n'))

test.each<[string, Record<string, string>, string]>([
  ['an empty folder', {}, 'has none of snapshot.yaml, snapshot.yml, snapshot.json, schema.yaml'],
  ['JSON that is cut', { 'snapshot.json': '{"collections":' }, 'snapshot.json is not JSON'],
  ['YAML that is none', { 'snapshot.yaml': 'a: [1\nb: }' }, 'snapshot.yaml is not YAML'],
  ['another document', { 'snapshot.json': '{"collections":{}}' }, 'is no schema snapshot of Directus'],
  [
    'only folders',
    { 'schema.json': '{"collections":[{"collection":"a","schema":null}],"fields":[]}' },
    'has no collections',
  ],
  [
    'aliases that stand for more and more',
    {
      'snapshot.yml': `a: &a [x, x, x, x, x, x, x, x, x]\n${[...'bcdefgh'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(', ')}]`).join('\n')}\n`,
    },
    'snapshot.yml is not YAML: Excessive alias count',
  ],
])('%s is refused, and nothing is made', async (_what, contents, line) => {
  const end = await fixture.importFrom('directus', await fixture.files(contents), '--yes')
  expect([end.code, end.complained]).toEqual([1, has(line)])
  expect(await storages()).toEqual([])
})

const field = (
  collection: string,
  name: string,
  type: string,
  schema: JsonObject | null = {},
  meta: JsonObject = {},
) => ({
  ...{ collection, field: name, type, meta },
  schema: schema && { is_nullable: true, ...schema },
})

const snapshot = {
  ...{ version: 1, directus: '11.2.0', vendor: 'postgres' },
  collections: [
    { collection: 'content', meta: { icon: 'folder' }, schema: null },
    { collection: 'authors', meta: {}, schema: { name: 'authors' } },
    { collection: 'articles', meta: {}, schema: { name: 'articles' } },
  ],
  fields: [
    field('authors', 'id', 'integer', { is_primary_key: true, is_nullable: false, has_auto_increment: true }),
    field('authors', 'name', 'string', { max_length: 80 }, { required: true }),
    field('authors', 'email', 'string', { is_unique: true }),
    field('authors', 'secret', 'hash', {}, { special: ['hash'] }),
    field('authors', 'articles', 'alias', null, { special: ['o2m'], interface: 'list-o2m' }),
    field('authors', 'notice', 'alias', null, { interface: 'presentation-notice' }),
    field('articles', 'id', 'uuid', { is_primary_key: true, is_nullable: false }),
    field(
      'articles',
      'status',
      'string',
      {},
      {
        interface: 'select-dropdown',
        options: {
          choices: [
            { text: 'Draft', value: 'draft' },
            { text: 'Live', value: 'live' },
          ],
        },
      },
    ),
    field('articles', 'body', 'text'),
    field('articles', 'price', 'decimal', { numeric_precision: 10, numeric_scale: 2 }),
    field('articles', 'views', 'bigInteger'),
    field('articles', 'open', 'boolean', { is_nullable: false }),
    field('articles', 'day', 'date'),
    field('articles', 'at', 'timestamp'),
    field('articles', 'local', 'dateTime'),
    field('articles', 'tags', 'csv'),
    field(
      'articles',
      'flags',
      'json',
      {},
      { interface: 'select-multiple-checkbox', options: { choices: [{ value: 'a' }, { value: 'b' }] } },
    ),
    field('articles', 'data', 'json'),
    field('articles', 'author', 'integer', { foreign_key_table: 'authors', foreign_key_column: 'id' }),
    field('articles', 'image', 'uuid', { foreign_key_table: 'directus_files' }),
    field('articles', 'parent', 'uuid'),
  ],
  relations: [
    { collection: 'articles', field: 'author', related_collection: 'authors', meta: {}, schema: {} },
    { collection: 'articles', field: 'image', related_collection: 'directus_files', meta: {}, schema: {} },
    { collection: 'articles', field: 'parent', related_collection: 'articles', meta: {}, schema: {} },
  ],
}

const [first, second] = ['11111111-0000-4000-8000-000000000001', '22222222-0000-4000-8000-000000000002']
const items = {
  'authors.json': JSON.stringify([
    { id: 1, name: 'Ann', email: 'ann@x.example', secret: '**********', articles: [first] },
  ]),
  'articles.json': JSON.stringify({
    data: [
      {
        ...{
          id: first,
          status: 'live',
          body: 'Long\ntext',
          price: '12.50',
          views: '9007199254740991',
          open: true,
          day: '2026-01-31',
        },
        ...{
          at: '2026-03-28T09:00:00.000Z',
          local: '2026-03-28T09:00:00',
          tags: ['x', 'y'],
          flags: ['b'],
          data: { k: 1 },
        },
        ...{ author: { id: 1, name: 'Ann' }, image: 'f1', parent: second },
      },
      { id: second, status: null, open: false, tags: null, author: null },
    ],
  }),
}

/** What `directus schema snapshot` writes: YAML with plain texts. */
async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value)
}

test('a snapshot in YAML with items becomes storages; again it brings changes only', async () => {
  const folder = await fixture.files({ 'snapshot.yaml': await yamlOf(snapshot), ...items })
  const dry = await fixture.importFrom('directus', folder)
  expect([dry.code, dry.complained]).toEqual([0, ''])
  for (const line of [
    'authors (authors): 1 row, found again by id\n  id\tinteger, required, unique\n  name\tstring, at most 80 characters, required\n  email\tstring, unique\n',
    '  price\tdecimal, 2 places\n  views\tinteger\n  open\tboolean, required\n  day\tday\n  at\tinstant\n',
    '  tags\tlist, of string\n  flags\tchoices, of 2 choices\n  data\tobject\n  author\treference to authors\n  image\tstring\n  parent\treference to articles\n',
    '  authors: secret is left out: secrets are not taken over.',
    '  authors: articles is left out: the records that refer to this one have it.',
    '  articles: local has no time zone: it is read as a time of UTC.',
    '  articles: image refers to files, which are not taken over: it stays a plain value.',
    '  Users, files, permissions, flows and dashboards are no part of a snapshot, and are not taken over. Files are, with directus_files.json',
  ])
    expect(dry.printed).toContain(line)
  expect(dry.printed).not.toContain('notice')
  const end = await fixture.importFrom('directus', folder, '--yes')
  expect([end.code, end.complained]).toEqual([0, ''])
  const [author] = await fixture.documents('authors')
  const articles = await fixture.documents('articles')
  expect(await fixture.stored('authors')).toEqual([{ id: 1, name: 'Ann', email: 'ann@x.example' }])
  expect(await fixture.stored('articles')).toEqual([
    {
      ...{
        id: first,
        status: 'live',
        body: 'Long\ntext',
        price: 12.5,
        views: 9007199254740991,
        open: true,
        day: '2026-01-31',
      },
      ...{
        at: '2026-03-28T09:00:00.000Z',
        local: '2026-03-28T09:00:00.000Z',
        tags: ['x', 'y'],
        flags: ['b'],
        data: { k: 1 },
      },
      ...{ author: Object(author?._meta).guid, image: 'f1', parent: Object(articles[1]?._meta).guid },
    },
    { id: second, open: false },
  ])
  const changed = { ...items, 'articles.json': items['articles.json'].replace('"live"', '"draft"') }
  // The same as JSON, as the API replies it.
  const again = await fixture.importFrom(
    'directus',
    await fixture.files({ 'schema.json': JSON.stringify({ data: snapshot }), ...changed }),
    '--yes',
  )
  expect(again.printed).toEqual(
    has(
      'authors: 0 new, 0 changed, 1 the same, 0 left out.',
      'articles: 0 new, 1 changed, 1 the same, 0 left out.',
    ),
  )
})

test('values that do not fit are listed with the key of their item', async () => {
  const wrong = JSON.stringify([
    { id: first, status: 'gone', open: 'maybe', views: '9007199254740993', price: '1.234' },
    { status: 'live', open: true },
  ])
  const folder = await fixture.files({
    'snapshot.json': JSON.stringify(snapshot),
    ...items,
    'articles.json': wrong,
  })
  const end = await fixture.importFrom('directus', folder, '--yes')
  expect(end.code).toBe(1)
  expect(end.complained.split('\n')).toEqual([
    `articles id ${first}: status must be one of draft, live. It is "gone".`,
    `articles id ${first}: price must be a number with at most 2 decimal places. It is 1.234.`,
    `articles id ${first}: views must be a whole number. It is "9007199254740993".`,
    `articles id ${first}: open must be true or false. It is "maybe".`,
    'articles record 2: id is missing, and is the key of the records.',
    '2 rows cannot be imported. Nothing was imported. Mend them, give a column another type, or leave them out with --skip-invalid.',
  ])
})
