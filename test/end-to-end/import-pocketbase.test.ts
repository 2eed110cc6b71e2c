/** quoin import-from pocketbase: a database, a backup and exports in the formats of its documentation, on both engines. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { type ImportFixture, openImportFixture } from '../import-fixture.ts'

let place: AssetPlace
let fixture: ImportFixture
beforeAll(async () => {
  place = await openAssetPlace()
  fixture = await openImportFixture(place.settings)
})
afterAll(async () => {
  await fixture.close()
  await place.close()
})

const storages = async () => {
  const found = await fixture.manage('POST', '/_system/storages/search', { limit: 100 })
  return (Array.isArray(found) ? found : []).map((one) => String(Object(one).name)).sort()
}
const has = (...lines: readonly string[]) => expect.stringContaining(lines.join('\n'))

async function archive(files: Readonly<Record<string, Uint8Array>>): Promise<Buffer> {
  const { ZipWriter, Uint8ArrayWriter, Uint8ArrayReader, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const zip = new ZipWriter(new Uint8ArrayWriter())
  for (const [name, bytes] of Object.entries(files)) await zip.add(name, new Uint8ArrayReader(bytes))
  return Buffer.from(await zip.close())
}

test.each<[string, () => Promise<string>, string]>([
  ['nothing', async () => '/nowhere/at/all', 'There is no file or folder /nowhere/at/all.'],
  ['an empty folder', () => fixture.files({}), 'has none of collections.json'],
  [
    'a file that is no database',
    async () => join(await fixture.files({ 'data.db': 'x'.repeat(5_000) }), 'data.db'),
    'file is not a database',
  ],
  [
    'another database',
    async () => {
      const folder = await fixture.files({})
      new DatabaseSync(join(folder, 'data.db')).exec('CREATE VIEW _collections AS SELECT 1')
      return folder
    },
    'is no database of PocketBase',
  ],
  [
    'an archive that is none',
    async () => join(await fixture.files({ 'a.zip': 'PK nothing' }), 'a.zip'),
    'a.zip ',
  ],
  [
    'an archive without a database',
    async () => join(await fixture.files({ 'a.zip': await archive({ 'b.db': Buffer.from('x') }) }), 'a.zip'),
    'has no file data.db',
  ],
  [
    'a zip bomb',
    async () =>
      join(
        await fixture.files({ 'a.zip': await archive({ 'data.db': new Uint8Array(9 * 1024 * 1024) }) }),
        'a.zip',
      ),
    'unpacks to far more than it has',
  ],
  [
    'collections that are cut',
    () => fixture.files({ 'collections.json': '[{"name":' }),
    'collections.json is not JSON.',
  ],
  [
    '100,000 fields',
    () =>
      fixture.files({
        'collections.json': JSON.stringify([
          {
            id: 'a',
            name: 'a',
            fields: Array.from({ length: 100_000 }, (_, at) => ({ name: `f${at}`, type: 'text' })),
          },
        ]),
      }),
    'has more than 500 fields',
  ],
  [
    'records that are cut',
    () =>
      fixture.files({
        'collections.json': '[{"id":"a","name":"a","fields":[{"name":"id","type":"text"}]}]',
        'a.json': '{"items":[{"id":"1"},{"id":',
      }),
    'a.json: ends in the middle',
  ],
])('%s is refused, and nothing is made', async (_what, source, line) => {
  const end = await fixture.importFrom('pocketbase', await source(), '--yes')
  expect([end.code, end.complained]).toEqual([1, has(line)])
  expect(await storages()).toEqual([])
})

interface ExportedCollection {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly system?: boolean
  readonly fields: readonly object[]
  readonly indexes?: readonly string[]
  readonly listRule?: string
}

const collections: readonly ExportedCollection[] = [
  { id: 'c_sys', name: '_superusers', system: true, type: 'auth', fields: [] },
  {
    ...{ id: 'c_users', name: 'users', type: 'auth', listRule: 'id = @request.auth.id' },
    fields: [
      { name: 'id', type: 'text', required: true },
      { name: 'password', type: 'password' },
      { name: 'tokenKey', type: 'text' },
      { name: 'email', type: 'email' },
      { name: 'verified', type: 'bool' },
      { name: 'created', type: 'autodate' },
    ],
    indexes: [
      'CREATE UNIQUE INDEX `i1` ON `users` (`tokenKey`)',
      "CREATE UNIQUE INDEX `i2` ON `users` (`email`) WHERE `email` != ''",
    ],
  },
  {
    ...{ id: 'c_posts', name: 'posts', type: 'base' },
    fields: [
      { name: 'id', type: 'text', required: true },
      { name: 'title', type: 'text', required: true, max: 100 },
      { name: 'body', type: 'editor' },
      { name: 'stars', type: 'number', onlyInt: true, min: 0, max: 5 },
      { name: 'state', type: 'select', maxSelect: 1, values: ['draft', 'live'] },
      { name: 'tags', type: 'select', maxSelect: 3, values: ['a', 'b'] },
      { name: 'author', type: 'relation', maxSelect: 1, collectionId: 'c_users' },
      { name: 'readers', type: 'relation', maxSelect: 9, collectionId: 'c_users' },
      { name: 'parent', type: 'relation', maxSelect: 1, collectionId: 'c_posts' },
      { name: 'image', type: 'file', maxSelect: 1 },
      { name: 'data', type: 'json' },
      { name: 'mixed', type: 'json' },
      { name: 'at', type: 'date' },
      { name: 'place', type: 'geoPoint' },
    ],
    indexes: [],
  },
  { id: 'c_view', name: 'latest', type: 'view', fields: [] },
]

/** A database as PocketBase makes it. */
async function database(): Promise<string> {
  const folder = await fixture.files({})
  const path = join(folder, 'data.db')
  const made = new DatabaseSync(path)
  made.exec(`CREATE TABLE _collections (id TEXT PRIMARY KEY, system BOOLEAN, type TEXT, name TEXT, fields JSON, indexes JSON, listRule TEXT);
    CREATE TABLE users (id TEXT PRIMARY KEY, password TEXT, tokenKey TEXT, email TEXT, verified BOOLEAN, created TEXT);
    CREATE TABLE posts (id TEXT PRIMARY KEY, title TEXT, body TEXT, stars NUMERIC, state TEXT, tags JSON, author TEXT, readers JSON,
      parent TEXT, image TEXT, data JSON, mixed JSON, at TEXT, place JSON);
    INSERT INTO users VALUES ('u1', 'hash', 't1', 'ann@x.example', TRUE, '2022-01-01 10:00:00.123Z'), ('u2', 'hash', 't2', '', FALSE, '2022-01-02 10:00:00.000Z');
    INSERT INTO posts VALUES ('p1', 'First', '<p>x</p>', 5, 'live', '["a","b"]', 'u1', '["u1","u2"]', 'p2', 'x_Ab1.png', '{"k":[1]}', '1', '2026-03-28 09:00:00.000Z', '{"lon":1,"lat":2.5}'),
      ('p2', 'Second', '', 0, '', '[]', '', '[]', '', '', 'null', '{}', '', '');`)
  const insert = made.prepare('INSERT INTO _collections VALUES (?, ?, ?, ?, ?, ?, ?)')
  for (const { id, name, type, system = false, fields, indexes = [], listRule = null } of collections)
    insert.run(id, Number(system), type, name, JSON.stringify(fields), JSON.stringify(indexes), listRule)
  made.close()
  return folder
}

const guidOf = async (storage: string, id: string) =>
  Object((await fixture.documents(storage)).find((one) => one.id === id)?._meta).guid

test('a backup becomes storages with references, circles and lists; again it brings changes only', async () => {
  const folder = await database()
  const { readFile } = await import('node:fs/promises')
  const zip = await archive({
    'storage/c_posts/p1/x_Ab1.png': Buffer.from('png'),
    'data.db': await readFile(join(folder, 'data.db')),
  })
  const path = join(await fixture.files({ 'backup.zip': zip }), 'backup.zip')
  const dry = await fixture.importFrom('pocketbase', path)
  expect([dry.code, dry.complained]).toEqual([0, ''])
  for (const line of [
    'users (users): 2 rows, found again by id\n  id\tstring, required, unique\n  email\temail, unique\n  verified\tboolean\n  created\tinstant\n',
    '  stars\tinteger\n  state\tchoice, of 2 choices\n  tags\tchoices, of 2 choices\n  author\treference to users\n  readers\tlist, of string\n  parent\treference to posts',
    '  latest is left out: it is a view.',
    '  users: password is left out of documents.',
    '  users: its records become documents, and users of Quoin who keep their passwords only with --users.',
    '  users: not taken over: listRule.',
    '  posts: readers refers to several records of users: it is a list of their guids, which nothing holds.',
    'posts (posts): 2 rows and 1 file of 3 bytes, found again by id',
    '  image\tfile',
    '  posts: mixed is text here: its values are not all objects, or all lists.',
  ])
    expect(dry.printed).toContain(line)
  const first = await fixture.importFrom('pocketbase', path, '--yes')
  expect([first.code, first.complained]).toEqual([0, ''])
  expect(await fixture.stored('users')).toEqual([
    { id: 'u1', email: 'ann@x.example', verified: true, created: '2022-01-01T10:00:00.123Z' },
    { id: 'u2', verified: false, created: '2022-01-02T10:00:00.000Z' },
  ])
  const [u1, u2, p2] = [await guidOf('users', 'u1'), await guidOf('users', 'u2'), await guidOf('posts', 'p2')]
  expect(await fixture.stored('posts')).toEqual([
    {
      ...{
        id: 'p1',
        title: 'First',
        body: '<p>x</p>',
        stars: 5,
        state: 'live',
        tags: ['a', 'b'],
        author: u1,
      },
      ...{
        readers: [u1, u2],
        parent: p2,
        image: expect.objectContaining({ name: 'x_Ab1.png', size: 3 }),
        data: { k: [1] },
        mixed: '1',
      },
      ...{ at: '2026-03-28T09:00:00.000Z', place: { lon: 1, lat: 2.5 } },
    },
    { id: 'p2', title: 'Second', body: '', stars: 0, tags: [], readers: [], mixed: '{}' },
  ])
  const again = await fixture.importFrom('pocketbase', path, '--yes')
  expect(again.printed).toEqual(
    has(
      'users: 0 new, 0 changed, 2 the same, 0 left out.',
      'posts: 0 new, 0 changed, 2 the same, 0 left out.',
    ),
  )
  // The same from its folder without files, with a change: the file stays.
  const data = await database()
  const changed = new DatabaseSync(join(data, 'data.db'))
  changed.exec(`UPDATE posts SET author = 'u2', stars = 4 WHERE id = 'p1'`)
  changed.close()
  const third = await fixture.importFrom('pocketbase', data, '--yes')
  expect(third.printed).toEqual(has('posts: 0 new, 1 changed, 1 the same, 0 left out.'))
  expect(third.printed).toContain('  posts: image has the names of files, which are not taken over.')
  expect(await fixture.stored('posts')).toMatchObject([{ image: { name: 'x_Ab1.png' } }, {}])
  await rm(data, { recursive: true })
})

const bcryptPassword = 'U*U'
const bcryptHash = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'

test('with --users its users sign in with the passwords that they had; an export, and a wrong hash make no user', async () => {
  let folder = await fixture.files({ 'collections.json': JSON.stringify(collections) })
  const from = (...words: readonly string[]) => fixture.importFrom('pocketbase', folder, '--users', ...words)
  const names = async () => {
    const found = await fixture.manage('POST', '/users/search', {
      filters: { username: ['ann@x.example', 'bob'] },
    })
    return (Array.isArray(found) ? found : []).map((one) => String(Object(one).username)).sort()
  }
  expect(await from('--yes')).toMatchObject({
    code: 1,
    complained: expect.stringContaining('is an export, which has no passwords'),
  })
  folder = await database()
  const wrong = await from('--yes')
  expect([wrong.code, wrong.complained]).toEqual([
    1,
    has(
      'users u1: password_hash must be a hash of bcrypt (cost 4 to 14), argon2, scrypt or PBKDF2 as docs/identity.md shows, of a usual cost.',
    ),
  ])
  expect(wrong.complained).toContain('2 users cannot be imported. Nothing was imported.')
  const data = new DatabaseSync(join(folder, 'data.db'))
  data.exec(
    `ALTER TABLE users ADD COLUMN username TEXT; UPDATE users SET password = '${bcryptHash}', username = CASE id WHEN 'u2' THEN 'bob' ELSE '' END`,
  )
  data.close()
  expect(await names()).toEqual([])
  const dry = await from()
  expect([dry.code, dry.complained]).toEqual([0, ''])
  expect(dry.printed).toContain('2 users would be made. 0 are there already and stay unchanged.')
  expect(await names()).toEqual([])
  const made = await from('--yes')
  expect([made.code, made.complained]).toEqual([0, ''])
  expect(made.printed).toContain('2 users made. 0 are there already and stay unchanged.')
  expect((await from('--yes')).printed).toContain('0 users made. 2 are there already and stay unchanged.')
  for (const end of [wrong, dry, made]) expect(end.printed + end.complained).not.toContain('$2')
  for (const username of ['ann@x.example', 'bob']) {
    const signIn = (password: string) => fixture.quoin.access.signIn({ username, password, ip: '127.0.0.1' })
    await expect(signIn('another password')).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' })
    expect(await signIn(bcryptPassword)).toMatchObject({ user: { username } })
  }
  await rm(folder, { recursive: true })
})

test('an export of before 0.23, with records as JSON; what refers to nothing is listed', async () => {
  const old = [
    {
      ...{ id: 'o1', name: 'goods', type: 'base' },
      schema: [
        { name: 'label', type: 'text', required: true, unique: false, options: { min: null, max: 20 } },
        { name: 'kind', type: 'relation', options: { collectionId: 'o2', maxSelect: 1 } },
        { name: 'sizes', type: 'select', options: { maxSelect: 2, values: ['s', 'm'] } },
      ],
      indexes: ['CREATE UNIQUE INDEX "idx" ON "goods" ("label")'],
    },
    { id: 'o2', name: 'kinds', type: 'base', schema: [{ name: 'name', type: 'text', options: {} }] },
  ]
  const goods = [
    {
      id: 'g1',
      collectionId: 'o1',
      label: 'A "b", {c]',
      kind: 'k1',
      sizes: ['s'],
      created: '2022-01-01 10:00:00.123Z',
      updated: '',
    },
    { id: 'g2', label: 'B', kind: 'k9', sizes: [], created: '', updated: '' },
  ]
  const folder = await fixture.files({
    'pb_schema.json': JSON.stringify(old),
    'goods.json': JSON.stringify(
      { page: 1, perPage: 30, note: 'items: [', items: goods, totalItems: 2 },
      undefined,
      2,
    ),
    'kinds.json': '\ufeff[ {"id": "k1", "name": "Tool"} ]\n',
  })
  const end = await fixture.importFrom('pocketbase', folder, '--yes')
  expect(end.code).toBe(1)
  expect(end.printed).toEqual(
    has(
      'kinds: 1 new, 0 changed, 0 the same, 0 left out.',
      'goods: 1 new, 0 changed, 0 the same, 1 left out.',
    ),
  )
  expect(end.complained).toMatch(/^goods id g2: .*kind/)
  expect(await fixture.stored('goods')).toEqual([
    {
      id: 'g1',
      label: 'A "b", {c]',
      kind: await guidOf('kinds', 'k1'),
      sizes: ['s'],
      created: '2022-01-01T10:00:00.123Z',
    },
  ])
  expect(await fixture.fields('goods')).toMatchObject({
    label: 'string {"max_length":20} required unique',
    id: 'string unique',
  })
})
