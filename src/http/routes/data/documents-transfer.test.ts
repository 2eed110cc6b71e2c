import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { jsonAt, textAt } from '../../../../test/json-at.ts'
import {
  type BrokenImports,
  beginImport,
  endImport,
  noteBatch,
  undoBrokenImports,
  undoImport,
} from '../../../records/documents/import-journal.ts'
import { createField } from '../../../records/fields/field-records.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { transact } from '../../../storage/transact.ts'
import { asSystem } from '../../../storage/validated.ts'
import { wrappedDatabase } from '../../../storage/wrapped-session.ts'

let fixture: DocumentServer
const guid = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`

beforeAll(async () => {
  fixture = await openDocumentServer({ imported: 3_000_000 })
})
afterAll(() => fixture.close())

const type = 'application/x-ndjson'
const pathOf = (storage: string) => `/_system/storages/${storage}/documents`
const send = (storage: string, raw: string | Buffer) =>
  fixture.send('POST', `${pathOf(storage)}/import`, 'admin', { raw, type })
const take = (storage: string) => fixture.send('GET', `${pathOf(storage)}/export`, 'admin')
const count = (name: string) => fixture.database.session().count(name, matchAll, true)
const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const undoBroken = (broken: Partial<BrokenImports> = {}) =>
  undoBrokenImports(fixture.database, { failed: new Set(), warn: () => undefined, ...broken })

/** Neither documents, nor what is noted while they are written, nor a temporary file. */
async function expectNothingLeft(name: string, before = 0): Promise<void> {
  expect(await count(name)).toBe(before)
  expect(await count('_imports')).toBe(0)
  expect(await readdir(join(fixture.directory, 'imports'))).toEqual([])
}

test('a storage may be asked for by its name, but none of Quoin itself', async () => {
  for (const name of ['nothing', '_users', '_storages', 'by%2Fname'])
    expect((await send(name, '{"n":1}')).status).toBe(404)
  const made = await fixture.send('POST', '/_system/storages', 'admin', { body: { name: 'by_name' } })
  expect(made.status).toBe(200)
  expect((await send('by_name', '{"n":1}\n{"n":2}')).body).toEqual({ imported: 2 })
  expect(lines((await take('by_name')).text)).toHaveLength(2)
  expect(await count('by_name')).toBe(2)
})

describe('import', () => {
  const many = Array.from({ length: 450 }, (_, n) => `{"n":${n}}\n`).join('')
  const bad: readonly [string, string | Buffer, string, RegExp][] = [
    ['a line that is no JSON', `${many}{"n":`, 'INVALID_BODY', /^Line 451: It is not JSON/],
    ['a list', '{"a":1}\n[1]\n', 'INVALID_BODY', /^Line 2: It is not a JSON object/],
    ['text', '"a"', 'INVALID_BODY', /^Line 1: /],
    ['a bad line behind empty ones', '{"a":1}\n\n \r\nx', 'INVALID_BODY', /^Line 4: /],
    ['half a character', Buffer.from([0x7b, 0x22, 0xc3, 0x22]), 'INVALID_BODY', /^Line 1: It is not UTF-8/],
    ['too much depth', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`, 'INVALID_BODY', /^Line 1: It is nested/],
    ['U+0000', '{"a":"\\u0000"}', 'INVALID_BODY', /^Line 1: .*U\+0000/],
    ['a prototype', '{"a":1}\n{"__proto__":{"x":1}}', 'INVALID_BODY', /^Line 2: /],
    ['a name of a field that none has', '{"a\\"b":1}', 'INVALID_BODY', /^Line 1: /],
    [
      'a guid twice',
      `{"_meta":{"guid":"${guid(1)}"}}\n${many}{"_meta":{"guid":"${guid(1)}"}}`,
      'CONFLICT',
      /^Line 452: /,
    ],
  ]
  it.each(bad)('of %s is refused by its line and leaves nothing', async (what, raw, error, message) => {
    const name = `bad-${bad.findIndex(([title]) => title === what)}`
    const reply = await send(await fixture.make(name, true), raw)
    expect(reply.body).toMatchObject({ error, message: expect.stringMatching(message) })
    await expectNothingLeft(name)
  })

  it('of JSON, of nothing and of too much is refused', async () => {
    const storage = await fixture.make('types')
    const path = `${pathOf(storage)}/import`
    expect(jsonAt((await fixture.send('POST', path, 'admin', { raw: '{}' })).body, 'error')).toBe(
      'UNSUPPORTED_MEDIA_TYPE',
    )
    expect(jsonAt((await fixture.send('POST', path, 'admin')).body, 'error')).toBe('NO_BODY_GIVEN')
    const raw = `{"a":"${'x'.repeat(3_000_000)}"}`
    expect((await fixture.send('POST', path, 'admin', { raw, type })).status).toBe(413)
    const headers = { 'content-length': '' }
    expect((await fixture.send('POST', path, 'admin', { raw, type, headers })).status).toBe(413)
    await expectNothingLeft('types')
  })

  it('keeps to the rules of fields and to unique values', async () => {
    const storage = await fixture.make('ruled')
    await fixture.database.ensure('ruled', { indexes: [{ fields: ['code'], unique: true }] })
    const rule = { name: 'title', type: 'string', storage: 'ruled', required: true, default_value: null }
    await createField(fixture.database, rule, { guid: guid(0), username: 'admin' })
    expect((await send(storage, '{"title":"a","code":1}')).body).toEqual({ imported: 1 })
    const unruled = await send(storage, '{"title":"b"}\n{"title":""}')
    expect(unruled.body).toMatchObject({ error: 'INVALID_BODY', fields: ['title'] })
    expect(textAt(unruled.body, 'message')).toMatch(/^Line 2: title is required/)
    const taken = await send(storage, '{"title":"b","code":2}\n{"title":"c","code":1}')
    expect(taken.body).toMatchObject({ error: 'CONFLICT', message: expect.stringMatching(/^Line 2: /) })
    // Too far apart for one trial: found while writing, and undone.
    const rows = Array.from({ length: 450 }, (_, n) => `{"title":"x","code":${n + 10}}`)
    const late = await send(storage, [...rows, '{"title":"x","code":10}'].join('\n'))
    expect(late.body).toMatchObject({ error: 'CONFLICT', message: expect.stringMatching(/^Line 451: /) })
    await expectNothingLeft('ruled', 1)
  })

  it('a body that is cut leaves nothing', async () => {
    const storage = await fixture.make('cut')
    const address = new URL(await fixture.server.listen())
    const { authorization } = await fixture.as('admin')
    const socket = connect(Number(address.port), address.hostname)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(
      `POST /api/v1${pathOf(storage)}/import HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        `content-type: ${type}\r\ncontent-length: 1000000\r\n\r\n${'{"a":1}\n'.repeat(2_000)}`,
    )
    const files = () => readdir(join(fixture.directory, 'imports'))
    await expect.poll(files).toHaveLength(1)
    socket.destroy()
    await closed
    await expect.poll(files).toEqual([])
    await expectNothingLeft('cut')
  })

  it('what a crash cut short is undone at the next start, and what was done stays', async () => {
    const storage = await fixture.make('crashed')
    await send(storage, '{"a":1}')
    const write = (id: string, n: number) =>
      transact(fixture.database, async (session) => {
        await session.create('crashed', [], { guid: guid(n) })
        await noteBatch(session, id, [guid(n)])
      })
    const done = await beginImport(fixture.database, 'crashed')
    await write(done, 1)
    await endImport(fixture.database, done)
    const broken = await beginImport(fixture.database, 'crashed')
    for (let n = 2; n < 9; n++) await write(broken, n)
    expect(await count('crashed')).toBe(9)
    // While its node is live no other node touches it.
    if (fixture.database.capabilities.cluster) {
      await undoBroken()
      expect(await count('crashed')).toBe(9)
      const died = [{ op: 'set', field: 'node', value: 'a node that died' }] as const
      await transact(fixture.database, (session) => session.update('_imports', broken, died))
    }
    // A round of this node undoes none of its own that has not failed.
    if (!fixture.database.capabilities.cluster) {
      await undoBroken()
      expect(await count('crashed')).toBe(9)
    }
    const failed = new Set([broken])
    await undoBroken({ failed })
    expect(failed.size).toBe(0)
    expect(await fixture.database.session().get('crashed', guid(1))).toBeDefined()
    await expectNothingLeft('crashed', 2)
    // Its node was only away: it writes nothing more, and does not say that all is there.
    await expect(write(broken, 9)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(endImport(fixture.database, broken)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expectNothingLeft('crashed', 2)
  })

  it('one whose last transaction fails leaves nothing, and one that cannot be tidied stays', async () => {
    const { imports, context, database } = fixture
    await fixture.make('unended')
    async function* source() {
      yield Buffer.from('{"a":1}\n{"a":2}')
    }
    const whenWritten = () => Promise.reject(new QuoinError('STORAGE_FULL', 'The disk is full.'))
    const options = { database: asSystem(context.records.database), whenWritten }
    await expect(imports.run('unended', source(), {}, options)).rejects.toThrow('The disk is full.')
    await expectNothingLeft('unended')
    const id = await beginImport(database, 'unended')
    const created = await transact(database, async (session) => {
      const document = await session.create('unended', [], { guid: guid(1) })
      await noteBatch(session, id, [guid(1)])
      return document
    })
    const session = vi.fn(database.session).mockImplementationOnce(database.session)
    session.mockImplementation(() => {
      throw new Error('The connection is lost.')
    })
    await endImport(wrappedDatabase(database, { session }), id)
    expect(session.mock.calls.length).toBeGreaterThan(1)
    await undoBroken({ failed: new Set([id]) })
    expect((await database.session().get('unended', guid(1)))?.text).toBe(created.text)
    await expectNothingLeft('unended', 1)
  })

  it('one that is being undone can be neither written nor ended, and one that is over cannot be undone as broken', async () => {
    const { database } = fixture
    await fixture.make('half')
    const half = await beginImport(database, 'half')
    const write = (id: string, n: number) =>
      transact(database, async (session) => {
        await session.create('half', [], { guid: guid(n) })
        await noteBatch(session, id, [guid(n)])
      })
    await write(half, 1)
    const kind = [{ op: 'set', field: 'kind', value: 'undone' }] as const
    await transact(database, (session) => session.update('_imports', half, kind))
    await expect(write(half, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(endImport(database, half)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await count('half')).toBe(1)
    await undoImport(database, half, {})
    await expectNothingLeft('half')
    const done = await beginImport(database, 'half')
    await write(done, 3)
    await endImport(database, done, {}, { canUndo: true })
    await undoImport(database, done, {})
    expect(await count('half')).toBe(1)
    await transact(database, (session) => session.delete('_imports', done))
    await undoBroken({ isStart: true })
    await expectNothingLeft('half', 1)
  })
})

describe('what refers to documents of an import that is undone', () => {
  const refer = (storage: string, to: string, on_delete: string, name = 'to') =>
    createField(
      fixture.database,
      { name, storage, type: 'reference', reference: { storage: to, on_delete } },
      { guid: 'u', username: 'u' },
    )
  const halfOf = (n: number) => Math.floor(n / 2)
  const tree = (count: number, parentOf = halfOf, more: (n: number) => object = () => ({})) =>
    Array.from({ length: count }, (_, n) =>
      JSON.stringify({
        _meta: { guid: guid(5_000 + n) },
        ...(parentOf(n) !== n && { to: guid(5_000 + parentOf(n)) }),
        ...more(n),
      }),
    ).join('\n')
  const importTree = async (name: string) => {
    const query = `${pathOf(await fixture.make(name))}/import?undo=true&skip_invalid=true`
    return query
  }
  const undo = (name: string, id: string) => fixture.send('DELETE', `${pathOf(name)}/imports/${id}`, 'admin')

  it.each(['refuse', 'clear', 'delete'])(
    'documents of the import itself hold nothing back: %s',
    async (how) => {
      const name = `tree_${how}`
      const path = await importTree(name)
      await refer(name, name, how)
      const { body } = await fixture.send('POST', path, 'admin', { raw: tree(230), type })
      expect(await count(name)).toBe(230)
      expect((await undo(name, textAt(body, 'undo'))).body).toEqual({ deleted: 230, left: 0 })
      await expectNothingLeft(name)
    },
  )

  it.each(['clear', 'delete'])('others keep what they refer to, and stay as they are: %s', async (how) => {
    const name = `used_${how}`
    const path = await importTree(name)
    await refer(name, name, 'refuse')
    await fixture.make(`${name}_by`)
    await refer(`${name}_by`, name, how)
    const { body } = await fixture.send('POST', path, 'admin', { raw: tree(230), type })
    const made = await send(`${name}_by`, `{"to":"${guid(5_020)}"}`)
    expect(made.body).toEqual({ imported: 1 })
    const before = (await take(`${name}_by`)).text
    // It, and those to which it refers: 10, 5, 2, 1 and the first.
    expect((await undo(name, textAt(body, 'undo'))).body).toEqual({ deleted: 224, left: 6 })
    expect((await take(`${name}_by`)).text).toBe(before)
    expect(await count('_imports')).toBe(0)
  })

  it('an import that fails behind its first batch is undone, children first', async () => {
    const name = 'failing'
    await fixture.make(name)
    await refer(name, name, 'refuse')
    await createField(
      fixture.database,
      { name: 'code', storage: name, type: 'string', unique: true },
      { guid: 'u', username: 'u' },
    )
    const reply = await send(
      name,
      tree(
        300,
        (n) => (n < 200 ? halfOf(n) : Math.max(n - 1, 200)),
        (n) => ({ code: `c${n === 249 ? 4 : n}` }),
      ),
    )
    expect([reply.status, textAt(reply.body, 'message')]).toEqual([409, expect.stringMatching(/^Line 250: /)])
    await expectNothingLeft(name)
  })

  it('a broken import that cannot be undone stops neither a start nor the undo of others, and is told of', async () => {
    const { database } = fixture
    await fixture.make('stuck')
    await fixture.make('stuck_by')
    await refer('stuck_by', 'stuck', 'refuse')
    const begin = async (storage: string, from: number, name?: string) => {
      const named = name === undefined ? undefined : { id: name, user: '' }
      const id = await beginImport(database, storage, named)
      for (const n of [from, from + 1])
        await transact(database, async (session) => {
          await session.create(storage, [], { guid: guid(n) })
          await noteBatch(session, id, [guid(n)])
        })
      if (database.capabilities.cluster)
        await transact(database, (session) =>
          session.update('_imports', id, [{ op: 'set', field: 'node', value: 'a node that died' }]),
        )
      return id
    }
    const used = await begin('stuck', 6_000, guid(9_000))
    const failing = await begin('stuck', 6_010)
    const other = await begin('stuck', 6_020)
    await send('stuck_by', `{"to":"${guid(6_001)}"}`)
    const warned: string[] = []
    const failed = new Set<string>()
    const session = database.session
    const broken = wrappedDatabase(database, {
      session(origin) {
        const one = session(origin)
        const get = one.get.bind(one)
        one.get = (storage, asked, options) => {
          if (asked === failing) throw new Error('The record cannot be read.')
          return get(storage, asked, options)
        }
        return one
      },
    })
    const warn = (message: string) => void warned.push(message)
    await undoBrokenImports(broken, { failed, isStart: true, warn })
    expect(warned.sort()).toEqual(
      [
        `The import ${failing} into stuck was broken off. It could not be undone, which is tried again within a minute: Error: The record cannot be read.`,
        `The import ${used} into stuck was broken off. It was undone, except for documents to which others refer: 1 (${guid(6_001)}).`,
      ].sort(),
    )
    expect([...failed]).toEqual([failing])
    const present = async (n: number) => (await database.session().get('stuck', guid(n))) !== undefined
    expect([await present(6_000), await present(6_001), await present(6_010), await present(6_020)]).toEqual([
      false,
      true,
      true,
      false,
    ])
    expect(await database.session().get('_imports', other)).toBeUndefined()
    // A client that sends it again is not told for ever that it is being written.
    expect(await database.session().get('_imports', used)).toBeUndefined()
    await undoBrokenImports(database, { failed, warn })
    expect([failed.size, await present(6_010), warned.length]).toEqual([0, false, 2])
    await expectNothingLeft('stuck', 1)
  })

  it('an undo that a crash cut short is not under way for ever: it can be begun again, and is forgotten with its time', async () => {
    const path = await importTree('halfway')
    const { body } = await fixture.send('POST', path, 'admin', { raw: tree(3), type })
    const id = textAt(body, 'undo')
    const mutations = [
      { op: 'set', field: 'kind', value: 'undoing' },
      { op: 'set', field: 'node', value: fixture.database.capabilities.cluster ? 'a node that died' : '' },
    ] as const
    await transact(fixture.database, (session) => session.update('_imports', id, mutations))
    await undoBroken({ isStart: true })
    expect(JSON.parse((await fixture.database.session().get('_imports', id))?.text ?? '')).toMatchObject({
      kind: 'done',
    })
    expect((await undo('halfway', id)).body).toEqual({ deleted: 3, left: 0 })
    await expectNothingLeft('halfway')
  })
})

describe('export and import', () => {
  it('an export imports into another storage as it was', async () => {
    const storage = await fixture.make('from')
    const first = `{"_meta":{"guid":"${guid(7)}","created":1500000000,"cms":1500000000123,"expiry":4000000000},"a":[1,{"b.c":null}]}`
    const unusual = '{"_meta":{"guid":"mine","created":"long ago","removed":5},"text":"\\u2028 é \u{1f600}"}'
    expect((await send(storage, `\ufeff${first}\r\n\n${unusual}`)).body).toEqual({ imported: 2 })
    const exported = await take(storage)
    expect(exported.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="from.ndjson"',
    })
    const [one, two] = lines(exported.text)
    expect(one).toMatchObject({
      _meta: {
        guid: guid(7),
        created: 1_500_000_000,
        cms: 1_500_000_000_123,
        expiry: 4_000_000_000,
        removed: 0,
      },
      a: [1, { 'b.c': null }],
    })
    expect(two).toMatchObject({ _meta: { expiry: -1, removed: 0 }, text: '\u2028 é \u{1f600}' })
    expect(two._meta.guid).not.toBe('mine')
    // The clock stands still; the time of guids runs on.
    expect(Math.abs(two._meta.cms - fixture.clock.now)).toBeLessThan(1_000)

    const copy = await fixture.make('copy')
    expect((await send(copy, exported.text)).body).toEqual({ imported: 2 })
    const bare = (text: string) =>
      lines(text).map(({ _meta: { update_hash, ...meta }, ...rest }) => ({ meta, ...rest }))
    expect(bare((await take(copy)).text)).toEqual(bare(exported.text))
    const again = await send(copy, exported.text)
    expect([again.status, textAt(again.body, 'message')]).toEqual([409, expect.stringMatching(/^Line 1: /)])
    await expectNothingLeft('copy', 2)
  })

  it('every present document comes once, the oldest first, whatever its size', async () => {
    const storage = await fixture.make('sizes')
    const rows = Array.from({ length: 1_200 }, (_, n) =>
      JSON.stringify({
        n,
        _meta: { created: 1_600_000_000 + (n % 7) },
        text: 'x'.repeat(n % 100 === 99 ? 150_000 : 5),
      }),
    )
    expect((await send(storage, rows.join('\n'))).body).toEqual({ imported: 1_200 })
    const some = await fixture.database.session().find('sizes', search({ limit: 1 }))
    const [{ _meta, n }] = JSON.parse(some.documents.text)
    await fixture.send('DELETE', `${pathOf(storage)}/${_meta.guid}`, 'admin')
    const found = lines((await take(storage)).text)
    expect(new Set(found.map((one) => one.n)).size).toBe(1_199)
    expect(found).toHaveLength(1_199)
    expect(found.some((one) => one.n === n)).toBe(false)
    const times = found.map((one) => one._meta.cms)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect((await take(await fixture.make('empty'))).text).toBe('')
  })

  it('an import is told to observers in the name of who asked for it', async () => {
    const storage = await fixture.make('watched', true)
    await send(storage, `{"_meta":{"guid":"${guid(3)}"},"a":1}`)
    const history = await fixture.send('GET', `${pathOf(storage)}/${guid(3)}/history`, 'admin')
    expect(history.body).toMatchObject([{ action: 'created', user: { username: 'admin' } }])
  })
})
