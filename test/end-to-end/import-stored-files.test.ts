/** Files of PocketBase and Directus that `quoin import-from` stores as assets, on both engines. */
import { symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { openCommandFixture } from '../command-fixture.ts'
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

const has = (...lines: readonly string[]) => expect.stringContaining(lines.join('\n'))
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A collection with a file and several files, and its records, as PocketBase exports them. */
function exported(name: string, records: readonly JsonObject[]): Record<string, string> {
  const fields = [
    { name: 'id', type: 'text' },
    { name: 'photo', type: 'file', maxSelect: 1, required: true },
    { name: 'papers', type: 'file', maxSelect: 9 },
  ]
  return {
    'collections.json': JSON.stringify([{ id: 'c1', name, type: 'base', fields }]),
    [`${name}.json`]: JSON.stringify(records),
  }
}

/** The same as a backup, whose archive has these files. */
async function backup(records: readonly JsonObject[], files: Readonly<Record<string, Uint8Array>>) {
  const { readFile } = await import('node:fs/promises')
  const { ZipWriter, Uint8ArrayWriter, Uint8ArrayReader, configure } = await import('@zip.js/zip.js')
  configure({ useWebWorkers: false })
  const path = join(await fixture.files({}), 'data.db')
  const database = new DatabaseSync(path)
  database.exec(
    'CREATE TABLE _collections (id TEXT, name TEXT, type TEXT, fields TEXT); CREATE TABLE pets (id TEXT, photo TEXT, papers TEXT)',
  )
  const [collection] = JSON.parse(exported('pets', [])['collections.json'] ?? '')
  database
    .prepare('INSERT INTO _collections VALUES (?, ?, ?, ?)')
    .run('c1', 'pets', 'base', JSON.stringify(collection.fields))
  const insert = database.prepare('INSERT INTO pets VALUES (?, ?, ?)')
  for (const { id, photo = '', papers = [] } of records)
    insert.run(String(id), String(photo), JSON.stringify(papers))
  database.close()
  const zip = new ZipWriter(new Uint8ArrayWriter())
  await zip.add('data.db', new Uint8ArrayReader(await readFile(path)))
  for (const [name, bytes] of Object.entries(files)) await zip.add(name, new Uint8ArrayReader(bytes))
  const folder = await fixture.files({ 'backup.zip': Buffer.from(await zip.close()) })
  return join(folder, 'backup.zip')
}

async function assets(storage: string): Promise<readonly JsonObject[]> {
  const found = await fixture.manage('POST', '/_system/assets/search', { limit: 1_000 })
  return (Array.isArray(found) ? found : [])
    .filter((one) => String(Object(one).directory).startsWith(`imported/${storage}/`))
    .map(Object)
}

async function content(value: unknown): Promise<string> {
  const response = await fetch(`${fixture.url}/api/v1/_system/assets/${Object(value).guid}/content`, {
    headers: { authorization: `Bearer ${await fixture.tokenOf('admin')}` },
  })
  return Buffer.from(await response.arrayBuffer()).toString('latin1')
}

test('a file that is no file of its record is named and left out, and its record is imported', async () => {
  const names = [
    '../../../secret.txt',
    '..',
    'gone.txt',
    'link.txt',
    'folder',
    'large.bin',
    'a\\b',
    'good.txt',
  ]
  const folder = await fixture.files({
    ...exported('notes', [
      { id: 'r1', photo: 'gone.png', papers: names },
      { id: '../r1', photo: 'good.txt' },
    ]),
    'secret.txt': 'secret',
    'storage/c1/r1/good.txt': 'good',
    'storage/c1/r1/large.bin': '',
    'storage/c1/r1/folder/x': 'x',
  })
  await symlink(join(folder, 'secret.txt'), join(folder, 'storage/c1/r1/link.txt'))
  await truncate(join(folder, 'storage/c1/r1/large.bin'), 500 * 1024 * 1024 + 1)
  const end = await fixture.importFrom('pocketbase', folder, '--yes')
  expect([end.code, end.complained]).toEqual([0, ''])
  expect(end.printed).toEqual(
    has(
      '  notes id r1: photo is left out: the file is not there. It is "gone.png".',
      '  notes id r1: papers is left out: its name leads out of the folder of its record. It is "../../../secret.txt".',
      '  notes id r1: papers is left out: its name leads out of the folder of its record. It is "..".',
      '  notes id r1: papers is left out: the file is not there. It is "gone.txt".',
      '  notes id r1: papers is left out: the file is a link. It is "link.txt".',
      '  notes id r1: papers is left out: the file is not there. It is "folder".',
      '  notes id r1: papers is left out: the file is larger than 500 MB. It is "large.bin".',
      '  notes id r1: papers is left out: its name leads out of the folder of its record. It is "a\\\\b".',
      '  notes id ../r1: photo is left out: its name leads out of the folder of its record. It is "good.txt".',
    ),
  )
  expect(await fixture.stored('notes')).toMatchObject([{ papers: [{ name: 'good.txt' }] }, { id: '../r1' }])
  expect((await assets('notes')).map(({ name }) => name)).toEqual(['good.txt'])
})

test('an archive with entries that lead out of it, or that unpack to far more than they have', async () => {
  const path = await backup([{ id: 'r1', photo: 'bomb.bin', papers: ['../../../../evil.txt', 'good.txt'] }], {
    '../evil.txt': Buffer.from('evil'),
    'storage/c1/r1/../../../../evil.txt': Buffer.from('evil'),
    'storage/c1/r1/bomb.bin': new Uint8Array(9 * 1024 * 1024),
    'storage/c1/r1/good.txt': Buffer.from('good'),
  })
  const end = await fixture.importFrom('pocketbase', path, '--yes')
  expect([end.code, end.complained]).toEqual([0, ''])
  for (const line of [
    '  The archive has ../evil.txt, which leads out of it: it is left out.',
    '  The archive has storage/c1/r1/../../../../evil.txt, which leads out of it: it is left out.',
    '  pets id r1: photo is left out: the file unpacks to far more than it has. It is "bomb.bin".',
    '  pets id r1: papers is left out: its name leads out of the folder of its record. It is "../../../../evil.txt".',
    'pets: 1 file uploaded, 0 the same, 0 left out.',
  ])
    expect(end.printed).toContain(line)
  const [pet] = await fixture.stored('pets')
  expect(await content(Object(pet).papers[0])).toBe('good')
})

test('a user who may not store files is refused, and no document is made', async () => {
  await fixture.addUser('keeper', ['storages_view', 'storages_create', 'assets_view'])
  const files = { ...exported('bills', [{ id: 'b1', photo: 'a.txt' }]), 'storage/c1/b1/a.txt': 'a' }
  const folder = await fixture.files(files)
  const end = await fixture.importAs('keeper', 'pocketbase', folder, '--yes')
  expect(end.code).toBe(1)
  expect(await assets('bills')).toEqual([])
})

test('a cluster that can store no files: they are listed, and documents are imported without them', async () => {
  const bare = await openImportFixture()
  try {
    // Several nodes need a bucket; the embedded engine has its disk.
    const has = inject('engine') === 'sqlite'
    const files = { 'storage/c1/h1/a.txt': 'a', 'storage/c1/h1/b.txt': 'b' }
    const records = [{ id: 'h1', photo: 'a.txt', papers: ['b.txt'] }]
    const folder = await bare.files({ ...exported('hens', records), ...files })
    const end = await bare.importFrom('pocketbase', folder, '--yes')
    expect(end.code).toBe(has ? 0 : 1)
    expect(end.printed).toContain('hens: 1 new, 0 changed, 0 the same, 0 left out.')
    expect(end.printed).toContain(`hens: ${has ? 2 : 0} files uploaded, 0 the same, ${has ? 0 : 2} left out.`)
    const why = (field: string, name: string) =>
      `hens id h1: ${field} is left out: This cluster has no place for files. Set QUOIN_ASSETS_URL to s3://… on every node and start them again. It is "${name}".`
    expect(end.complained).toBe(has ? '' : [why('photo', 'a.txt'), why('papers', 'b.txt')].join('\n'))
  } finally {
    await bare.close()
  }
})

test('files become assets and values of their fields; again nothing is uploaded', async () => {
  const records = [
    { id: 'r1', photo: 'one.png', papers: ['a.txt', 'b.txt'] },
    { id: 'r2', photo: '', papers: [] },
  ]
  const files = { 'storage/c1/r1/one.png': png, 'storage/c1/r1/a.txt': 'aa', 'storage/c1/r1/b.txt': '' }
  const dry = await fixture.importFrom(
    'pocketbase',
    await fixture.files({ ...exported('dogs', records), ...files }),
  )
  expect(dry.printed).toEqual(
    has(
      'dogs (dogs): 2 rows and 3 files of 72 bytes, found again by id',
      '  id\tstring, unique',
      '  photo\tfile',
      '  papers\tfiles',
    ),
  )
  expect(await assets('dogs')).toEqual([])
  const load = async (one: typeof records, more = {}) =>
    fixture.importFrom(
      'pocketbase',
      await fixture.files({ ...exported('dogs', one), ...files, ...more }),
      '--yes',
    )
  const first = await load(records)
  expect([first.code, first.complained]).toEqual([0, ''])
  expect(first.printed).toEqual(
    has('dogs: 2 new, 0 changed, 0 the same, 0 left out.', 'dogs: 3 files uploaded, 0 the same, 0 left out.'),
  )
  const [dog] = await fixture.stored('dogs')
  const guid = expect.any(String)
  expect(dog).toEqual({
    id: 'r1',
    photo: { guid, name: 'one.png', type: 'image/png', size: png.length },
    papers: [
      { guid, name: 'a.txt', type: 'text/plain', size: 2 },
      { guid, name: 'b.txt', type: 'text/plain', size: 0 },
    ],
  })
  expect(await content(Object(dog).photo)).toBe(png.toString('latin1'))
  expect(await content(Object(dog).papers[0])).toBe('aa')

  const again = await load(records)
  expect(again.printed).toEqual(
    has('dogs: 0 new, 0 changed, 2 the same, 0 left out.', 'dogs: 0 files uploaded, 3 the same, 0 left out.'),
  )
  // A file of another length is sent; a record without a file has none.
  const third = await load([{ id: 'r1', photo: '', papers: ['a.txt'] }], { 'storage/c1/r1/a.txt': 'aaa' })
  expect(third.printed).toEqual(has('dogs: 1 file uploaded, 0 the same, 0 left out.'))
  expect(await fixture.stored('dogs')).toMatchObject([
    { photo: null, papers: [{ name: 'a.txt', size: 3 }] },
    { id: 'r2' },
  ])
  expect(await assets('dogs')).toHaveLength(4)
  // One of the same length and with another content is another file.
  const changed = await load([{ id: 'r1', photo: '', papers: ['a.txt'] }], { 'storage/c1/r1/a.txt': 'bbb' })
  expect(changed.printed).toEqual(has('dogs: 1 file uploaded, 0 the same, 0 left out.'))
  expect(await content(Object((await fixture.stored('dogs'))[0]).papers[0])).toBe('bbb')
  // A file that is gone from the source stays in Quoin.
  const fourth = await load([{ id: 'r1', photo: '', papers: ['lost.txt'] }])
  expect(fourth.printed).toContain('dogs id r1: papers is left out: the file is not there. It is "lost.txt".')
  expect(await fixture.stored('dogs')).toMatchObject([{ papers: [{ name: 'a.txt', size: 3 }] }, {}])
  // Also beside others.
  const more = [{ id: 'r1', photo: '', papers: ['c.txt', 'b.txt'] }]
  await load(more, { 'storage/c1/r1/c.txt': 'c' })
  expect((await load(more)).printed).toContain('dogs: 0 new, 0 changed, 1 the same, 0 left out.')
  expect(await fixture.stored('dogs')).toMatchObject([{ papers: [{ name: 'c.txt' }, { name: 'b.txt' }] }, {}])
})

test('of Directus: by the guids of its files, with the names that people see', async () => {
  const ids = [
    '11111111-0000-4000-8000-000000000001',
    '11111111-0000-4000-8000-000000000002',
    'gone',
    'out',
    'unlisted',
  ]
  const file = (name: string, more = {}) => ({
    ...{ collection: 'plants', field: name, type: 'uuid', meta: {}, schema: { is_nullable: true } },
    ...more,
  })
  const snapshot = {
    collections: [{ collection: 'plants', meta: {}, schema: { name: 'plants' } }],
    fields: [
      file('id', { type: 'string', schema: { is_primary_key: true, is_nullable: false } }),
      file('photo', { meta: { required: true } }),
      file('paper'),
    ],
    relations: ['photo', 'paper'].map((field) => ({
      ...{ collection: 'plants', field, related_collection: 'directus_files' },
    })),
  }
  const files = [
    { id: ids[0], filename_disk: `${ids[0]}.png`, filename_download: 'rose.png' },
    { id: ids[1], filename_disk: `${ids[1]}.png`, filename_download: '../../rose.png' },
    { id: ids[2], filename_disk: 'gone.png', filename_download: 'gone.png' },
    { id: ids[3], filename_disk: '../snapshot.json', filename_download: 'evil.json' },
  ]
  const plants = [
    { id: 'a', photo: ids[0], paper: { id: ids[1], title: 'Rose' } },
    { id: 'b', photo: ids[2], paper: ids[3] },
    { id: 'c', photo: ids[4], paper: null },
  ]
  const contents = {
    'snapshot.json': JSON.stringify(snapshot),
    'plants.json': JSON.stringify(plants),
    'directus_files.json': JSON.stringify({ data: files }),
    [`uploads/${ids[0]}.png`]: png,
    // Of the same name and length in one record.
    [`uploads/${ids[1]}.png`]: Buffer.from(png.toReversed()),
  }
  const folder = await fixture.files(contents)
  const first = await fixture.importFrom('directus', folder, '--yes')
  expect([first.code, first.complained]).toEqual([0, ''])
  for (const line of [
    'plants (plants): 3 rows and 2 files of 140 bytes, found again by id\n  id\tstring, unique\n  photo\tfile\n  paper\tfile\n',
    '  plants id b: photo is left out: the file is not there. It is "gone".',
    '  plants id b: paper is left out: its name leads out of the folder of its record. It is "out".',
    '  plants id c: photo is left out: there is no such file in directus_files.json. It is "unlisted".',
    'plants: 2 files uploaded, 0 the same, 0 left out.',
  ])
    expect(first.printed).toContain(line)
  const [plant] = await fixture.stored('plants')
  expect(plant).toMatchObject({
    photo: { name: 'rose.png', type: 'image/png' },
    paper: { name: 'rose-2.png' },
  })
  expect(await content(Object(plant).paper)).toBe(Buffer.from(png.toReversed()).toString('latin1'))
  const again = await fixture.importFrom('directus', folder, '--yes')
  expect(again.printed).toEqual(
    has(
      'plants: 0 new, 0 changed, 3 the same, 0 left out.',
      'plants: 0 files uploaded, 2 the same, 0 left out.',
    ),
  )
  // Without the folder they stay plain values, as before.
  const { [`uploads/${ids[0]}.png`]: _one, [`uploads/${ids[1]}.png`]: _other, ...bare } = contents
  const plain = await fixture.importFrom('directus', await fixture.files(bare))
  expect(plain.printed).toContain(
    'plants: photo refers to files, which are not taken over: it stays a plain value.',
  )
})

test('on the data directory too, while no server runs', async () => {
  const local = await openCommandFixture('on the data directory')
  try {
    const files = { ...exported('cats', [{ id: 'c', photo: 'a.txt' }]), 'storage/c1/c/a.txt': 'a' }
    const folder = await fixture.files(files)
    const first = await local.run(['import-from', 'pocketbase', folder, '--yes'])
    expect([first.code, first.complained]).toEqual([0, ''])
    expect(first.printed).toEqual(has('cats: 1 file uploaded, 0 the same, 0 left out.'))
    const again = await local.run(['import-from', 'pocketbase', folder, '--yes'])
    expect(again.printed).toEqual(has('cats: 0 files uploaded, 1 the same, 0 left out.'))
  } finally {
    await local.close()
  }
})
