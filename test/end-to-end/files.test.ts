/** Files from flows: written, read, listed and deleted as assets, and tables of many rows in both directions. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Cell, xlsxFile } from '../../src/blocks/rows/xlsx-file.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let place: AssetPlace
let quoin: TestQuoin
let address: string

const get = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] })
const reply = (flow: string, value: string) => ({ type: 'reply', in: { flow, value } })

/** POST write, read, list, delete, table, rows: one block each, with what the body says. */
const blocks: JsonObject = {
  w: get('write'),
  note: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@w.flow', storage: 'notes', set: '={ name: body.name }' },
  },
  write: {
    type: 'write_file',
    in: {
      flow: '@note.flow',
      ...{
        content: '=body.content',
        name: '=body.name',
        directory: '=body.directory',
        replace: '=body.replace',
      },
    },
  },
  undo: { type: 'branch', in: { flow: '@write.flow', condition: '=body.undo == true' } },
  undone: { type: 'fail', in: { flow: '@undo.true', message: 'Undone.' } },
  written: reply('@undo.false', '@write.file'),
  r: get('read'),
  read: { type: 'read_file', in: { flow: '@r.flow', file: '=body.file' } },
  was_read: reply('@read.flow', '=read.text'),
  b: get('bytes'),
  bytes: { type: 'read_file', in: { flow: '@b.flow', file: '=body.file' }, fields: { encoding: 'base64' } },
  were_read: reply('@bytes.flow', '=bytes.text'),
  l: get('list'),
  list: { type: 'list_files', in: { flow: '@l.flow', directory: '=body.directory', name: '=body.name' } },
  listed: reply('@list.flow', '@list.files'),
  d: get('delete'),
  delete: { type: 'delete_file', in: { flow: '@d.flow', file: '=body.file' } },
  deleted: reply('@delete.flow', '@delete.file'),
  t: get('table'),
  table: {
    type: 'write_rows',
    in: {
      flow: '@t.flow',
      ...{ storage: 'goods', where: '=doc.price >= maybe(body.least)', sort: 'number' },
      ...{ columns: '=body.columns', name: '=body.name', replace: true },
    },
  },
  tabled: reply('@table.flow', '={ file: table.file, count: table.count }'),
  i: get('items'),
  items: { type: 'write_rows', in: { flow: '@i.flow', list: '=body.list', name: '=body.name' } },
  itemed: reply('@items.flow', '@items.file'),
  e: get('rows'),
  rows: { type: 'each_row', in: { flow: '@e.flow', file: '=body.file', as_fields: '=body.as_fields' } },
  bad: { type: 'branch', in: { flow: '@rows.each', condition: "=rows.item.name == 'bad'" } },
  stop: { type: 'fail', in: { flow: '@bad.true', message: '=text(rows.line)' } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@bad.false', storage: 'kept', set: '={ line: rows.line, row: rows.item }' },
  },
  kept: reply('@rows.flow', '=rows.count'),
}

const post = (path: string, body: JsonObject) => quoin.send('POST', `/${path}`, { body })
async function done(path: string, body: JsonObject): Promise<JsonValue> {
  const answer = await post(path, body)
  expect(answer.status, answer.text).toBe(200)
  return answer.body ?? null
}
const write = async (name: string, content: JsonValue, more: JsonObject = {}) =>
  objectOf(await done('write', { name, content, ...more }))
const assets = async () => objectsOf(await quoin.manage('POST', '/_system/assets/search', { limit: 1_000 }))
const kept = async () => (await quoin.documents('kept')).map(({ line, row }) => [line, row])

/** As a user uploads it. */
async function upload(name: string, content: Buffer): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([Uint8Array.from(content)]), name)
  const headers = { authorization: `Bearer ${await quoin.tokenOf('admin')}` }
  const sent = await fetch(`${address}/_system/assets/stream`, { method: 'POST', headers, body: form })
  return guidOf(await sent.json())
}

async function sheetOf(rows: readonly (readonly Cell[])[]): Promise<Buffer> {
  async function* input() {
    yield* rows
  }
  return buffer(Readable.from(xlsxFile(input())))
}

beforeAll(async () => {
  place = await openAssetPlace()
  quoin = await openTestQuoin(place.settings)
  address = `${await quoin.quoin.server.listen()}/api/v1`
  await quoin.install('files', blocks)
})
afterAll(async () => {
  await quoin.close()
  await place.close()
})

describe('write, read, list and delete', () => {
  test.each<[string, string, JsonObject, number, string]>([
    ['a name with a slash', 'write', { name: '../a', content: 'x' }, 400, 'must not hold a slash'],
    [
      'a directory with ..',
      'write',
      { name: 'a', content: 'x', directory: 'a/../b' },
      400,
      'must not hold . or ..',
    ],
    [
      'content that is too large',
      'write',
      { name: 'a', content: Array.from({ length: 500_001 }, () => 1) },
      400,
      'at most 500,000',
    ],
    ['an unknown file', 'read', { file: 'none.txt' }, 404, 'names no asset'],
    ['no file', 'read', { file: {} }, 400, 'guid or the name'],
    ['an unknown file', 'delete', { file: 'none.txt' }, 404, 'names no asset'],
    ['a list of no objects', 'items', { name: 'a.csv', list: [1] }, 400, 'item 0 is none'],
    [
      'a column that is no field',
      'table',
      { name: 'a.csv', columns: ['a..b'] },
      400,
      'must be names of fields',
    ],
  ])('%s is refused: %s', async (_what, path, body, status, message) => {
    const answer = await post(path, body)
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)])
    expect(await assets()).toEqual([])
    expect(await place.files(quoin.directory)).toEqual([])
  })

  test('text and JSON, on behalf of the caller', async () => {
    const file = await write('a.txt', 'Grüße')
    expect(file).toEqual({ guid: expect.any(String), name: 'a.txt', type: 'text/plain', size: 7 })
    expect(await done('read', { file })).toBe('Grüße')
    expect(await done('read', { file: 'a.txt' })).toBe('Grüße')
    expect(await done('bytes', { file: file.guid ?? '' })).toBe(Buffer.from('Grüße').toString('base64'))
    await quoin.addUser('writer', [])
    const json = await quoin.send('POST', '/write', {
      as: 'writer',
      body: { name: 'b.json', content: { a: [1] } },
    })
    expect(json.body).toMatchObject({ type: 'application/json' })
    expect(await done('read', { file: 'b.json' })).toBe('{"a":[1]}')
    expect((await assets()).map(({ created_by }) => objectOf(created_by).username).sort()).toEqual([
      '',
      'writer',
    ])
  })

  test('bytes that are no text, and files that are too large to be read at once', async () => {
    expect((await post('read', { file: await upload('x.bin', Buffer.from([0xff, 0xfe])) })).text).toContain(
      'is not UTF-8',
    )
    const large = await upload('large.txt', Buffer.alloc(1024 * 1024 + 1, 'a'))
    expect((await post('read', { file: large })).text).toContain('more than 1048576 bytes')
  })

  test('what is listed, replaced and deleted', async () => {
    const names = async (body: JsonObject) =>
      objectsOf(await done('list', body)).map(({ name, size }) => [name, size])
    for (const [name, content] of [
      ['c.txt', '1'],
      ['d.txt', '22'],
      ['c.txt', '333'],
    ] as const)
      await write(name, content, { directory: 'listed' })
    expect(await names({ directory: 'listed' })).toHaveLength(3)
    await write('c.txt', '4444', { directory: 'listed', replace: true })
    expect(await names({ directory: 'listed' })).toEqual([
      ['c.txt', 4],
      ['d.txt', 2],
    ])
    expect(await names({ directory: 'listed', name: 'd.txt' })).toEqual([['d.txt', 2]])
    expect(await done('delete', { file: 'd.txt' })).toMatchObject({ name: 'd.txt', size: 2 })
    expect(await names({ directory: 'listed' })).toEqual([['c.txt', 4]])
    expect((await post('delete', { file: 'd.txt' })).status).toBe(404)
  })

  test('a public file has one owner of its path, and replacing it takes over', async () => {
    const first = { directory: 'public/reports' }
    await write('r.txt', 'one', first)
    expect((await post('write', { name: 'r.txt', content: 'two', ...first })).status).toBe(409)
    await write('r.txt', 'three', { ...first, replace: true })
    expect(await (await fetch(`${address.replace('/api/v1', '')}/static/reports/r.txt`)).text()).toBe('three')
  })

  test('writing touches the world: a run that fails later leaves the file and what was written before it', async () => {
    expect((await post('write', { name: 'left.txt', content: 'x', undo: true })).status).toBe(400)
    expect(objectsOf(await done('list', { name: 'left.txt' }))).toHaveLength(1)
    expect((await quoin.documents('notes')).filter(({ name }) => name === 'left.txt')).toHaveLength(1)
  })
})

describe('tables', () => {
  beforeEach(async () => {
    const guids = (await quoin.documents('kept')).map(guidOf)
    for (let from = 0; from < guids.length; from += 1_000) {
      const body = { guids: guids.slice(from, from + 1_000) }
      await quoin.manage('POST', '/_system/storages/kept/documents/remove-many', body)
    }
  })

  const COUNT = 1_200
  beforeAll(async () => {
    const lines = Array.from({ length: COUNT }, (_none, at) => `${at};good ${at};${at / 2}`)
    await write('goods.csv', `Number;Name;Price\n${lines.join('\n')}`)
    await quoin.install('goods', {
      ask: get('goods'),
      rows: { type: 'each_row', in: { flow: '@ask.flow', file: 'goods.csv' } },
      store: {
        type: 'function_create_document_from_mutations',
        in: {
          flow: '@rows.each',
          storage: 'goods',
          set: '={ number: number(rows.item.number), name: rows.item.name, price: number(rows.item.price), low: number(rows.item.price) < 1 }',
        },
      },
      stored: reply('@rows.flow', '=rows.count'),
    })
    expect(await done('goods', {})).toBe(COUNT)
  })

  test.each(['csv', 'xlsx'])(
    'a search of %s is written a page at a time, in its order, and read again',
    async (kind) => {
      const columns = ['number', { field: 'name', label: 'Name of it' }, 'price', 'low']
      const table = objectOf(await done('table', { name: `goods.${kind}`, columns }))
      expect(table).toMatchObject({ count: COUNT, file: { name: `goods.${kind}` } })
      const text = kind === 'csv'
      expect(await done('rows', { file: table.file ?? null, as_fields: true })).toBe(COUNT)
      const rows = await kept()
      expect(rows).toHaveLength(COUNT)
      expect(rows[3]).toEqual([
        5,
        text
          ? { number: '3', name_of_it: 'good 3', price: '1.5', low: 'false' }
          : { number: 3, name_of_it: 'good 3', price: 1.5, low: false },
      ])
      expect(new Set(rows.map(([line]) => line)).size).toBe(COUNT)
    },
  )

  test('a condition narrows the rows, and a list gives its own fields', async () => {
    expect(
      await done('table', { name: 'dear.csv', least: (COUNT - 2) / 2, columns: ['number'] }),
    ).toMatchObject({ count: 2 })
    expect(await done('read', { file: 'dear.csv' })).toBe(`number\r\n${COUNT - 2}\r\n${COUNT - 1}\r\n`)
    await done('items', { name: 'list.csv', list: [{ a: 1, b: '=1+1' }, { a: 'x,y' }] })
    expect(await done('read', { file: 'list.csv' })).toBe(`a,b\r\n1,'=1+1\r\n"x,y",\r\n`)
  })

  test('a row that fails ends the loop and undoes its transaction', async () => {
    const file = await upload('bad.csv', Buffer.from('name\ngood\nbad\nnever\n'))
    const answer = await post('rows', { file, as_fields: true })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('3')])
    expect(await kept()).toEqual([])
  })

  test.each<[string, () => Promise<Buffer>, string]>([
    ['two columns of one name', async () => Buffer.from('a,a\n1,2'), 'two columns named a'],
    ['more cells than names', () => sheetOf([['a'], [1, 2]]), 'more cells in line 2'],
    ['a forbidden name', () => sheetOf([['__proto__'], [1]]), 'invalid name __proto__'],
    ['a damaged workbook', async () => (await sheetOf([['a'], [1]])).subarray(0, 300), 'no XLSX workbook'],
    ['bytes that are no text', async () => Buffer.from([0x61, 0xff, 0x0a]), 'not UTF-8'],
  ])('%s: 400 that says so, and nothing is stored', async (_what, content, message) => {
    const answer = await post('rows', { file: await upload('table', await content()), as_fields: false })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)])
    expect(await kept()).toEqual([])
  })
})

test('a user who lacks the scopes of assets cannot deploy what reads, writes or deletes them', async () => {
  const rights = ['blueprints_view', 'blueprints_create', 'blueprints_update', 'blueprintactions_view']
  const blueprint = await quoin.install('to deploy', {
    ask: get('deployed'),
    delete: { type: 'delete_file', in: { flow: '@ask.flow', file: 'a.txt' } },
  })
  for (const [user, scopes, status] of [
    ['few', rights, 403],
    ['enough', [...rights, 'assets_remove'], 200],
  ] as const) {
    await quoin.addUser(user, scopes)
    const answer = await quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as: user })
    expect(answer.status, answer.text).toBe(status)
    if (status === 403) expect(answer.text).toContain('assets_remove')
  }
})
