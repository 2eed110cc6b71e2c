/** The same change to many documents through the management API: all or none, or as a job. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DocumentServer, openDocumentServer } from '../../../../test/document-server.ts'
import { createField } from '../../../records/fields/field-records.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { createAll } from '../../../storage/create-all.ts'
import { documentOf } from '../../../storage/database.ts'
import { guidOf, objectsIn } from '../../../storage/document-fields.ts'
import { transact } from '../../../storage/transact.ts'

let fixture: DocumentServer
let guids: readonly string[]
let path: string
let guid: string
const COUNT = 5

beforeAll(async () => {
  fixture = await openDocumentServer()
  await fixture.addUser('changer', ['storages_update'])
  await fixture.addUser('remover', ['storages_remove'])
  const field = { name: 'n', type: 'integer', storage: 'goods', validation_rules: { max: 9 } }
  await fixture.make('goods')
  await createField(fixture.database, field, { guid: 'u', username: 'u' })
  await createField(
    fixture.database,
    { name: 'tag', type: 'string', storage: 'goods' },
    { guid: 'u', username: 'u' },
  )
})
afterAll(() => fixture.close())

async function fill(count: number): Promise<readonly string[]> {
  const requested = Array.from({ length: count }, (_, n) => ({ mutations: setFields({ n: n % 9 }) }))
  const made = await transact(fixture.database, (session) => createAll(session, 'goods', requested))
  return made.documents.map((document) => guidOf(documentOf(document)))
}

beforeEach(async () => {
  await fixture.database.drop('goods')
  await fixture.database.ensure('goods', {})
  guids = await fill(COUNT)
  path = '/_system/storages/goods/documents'
})

const ask = (way: 'update' | 'remove', body: JsonObject, as = 'admin') =>
  fixture.send('POST', `${path}/${way}-many`, as, { body })

async function state(): Promise<readonly (readonly unknown[])[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const { documents } = await fixture.database
    .session()
    .find('goods', search({ sort, limit: 1000, includeRemoved: true }))
  return objectsIn(documents.value).map(({ n, tag }) => [n, tag])
}
const untouched = [0, 1, 2, 3, 4].map((n) => [n, undefined])
const present = () => fixture.database.session().count('goods', matchAll)

describe('refused, and nothing is changed', () => {
  test.each<['update' | 'remove', JsonObject, number]>([
    ['update', { set: { tag: 'x' } }, 400],
    ['remove', {}, 400],
    ['update', { filters: {} }, 400],
    ['update', { set: { tag: 'x' }, guids: [] }, 400],
    ['update', { set: { tag: 'x' }, guids: Array.from({ length: 1001 }, () => 'g') }, 400],
    ['update', { set: { tag: 1 }, filters: {} }, 400],
    ['update', { set: { n: 10 }, filters: { n: { gte: 3 } } }, 400],
    ['remove', { filters: {}, sort: [] }, 400],
  ])('%s %j', async (way, body, status) => {
    expect((await ask(way, body)).status).toBe(status)
    expect([await state(), await present()]).toEqual([untouched, COUNT])
  })

  test('without the scope', async () => {
    expect((await ask('update', { set: { tag: 'x' }, filters: {} }, 'remover')).status).toBe(403)
    expect((await ask('remove', { filters: {} }, 'changer')).status).toBe(403)
    expect((await ask('remove', { filters: {} }, '')).status).toBe(401)
    expect([await state(), await present()]).toEqual([untouched, COUNT])
  })

  test('a storage that is not there, and one of Quoin itself', async () => {
    for (const name of ['nothing', '_users']) {
      path = `/_system/storages/${name}/documents`
      expect((await ask('remove', { filters: {} })).status).toBe(404)
    }
  })

  test('more than go at once', async () => {
    await fill(1_000)
    const { status, body } = await ask('update', { set: { tag: 'x' }, filters: {} })
    expect([status, body]).toMatchObject([400, { message: expect.stringContaining('match 1,005 documents') }])
    expect((await state()).slice(0, COUNT)).toEqual(untouched)
  })
})

describe('done', () => {
  test('those that are named, and of these only those that match', async () => {
    const [first = '', second = '', third = ''] = guids
    const body = {
      set: { tag: 'x', _meta: { removed: 1 } },
      guids: [first, second, third, 'unknown'],
      filters: { n: { gte: 1 } },
    }
    expect((await ask('update', body, 'changer')).body).toEqual({
      count: 2,
      job: null,
      run: expect.any(String),
    })
    expect(await state()).toEqual([
      [0, undefined],
      [1, 'x'],
      [2, 'x'],
      [3, undefined],
      [4, undefined],
    ])
    expect(await present()).toBe(COUNT)
  })

  test('removed ones can be restored; deleted ones are gone, removed ones only if that is said', async () => {
    expect((await ask('remove', { filters: { n: { lte: 1 } } }, 'remover')).body).toEqual({
      count: 2,
      job: null,
      run: expect.any(String),
    })
    expect([await present(), (await state()).length]).toEqual([3, COUNT])
    expect((await ask('remove', { hard: true, filters: {}, guids: guids.slice(0, 3) })).body).toMatchObject({
      count: 1,
    })
    expect((await state()).length).toBe(COUNT - 1)
    expect((await ask('remove', { hard: true, include_removed: true, filters: {} })).body).toMatchObject({
      count: 4,
    })
    expect(await state()).toEqual([])
  })

  test('one audit record says how many, and of which fields', async () => {
    await ask('update', { set: { tag: 'x' }, filters: {} })
    const { documents } = await fixture.database
      .session()
      .find(
        '_auditlogs',
        search({ limit: 1, sort: [{ field: '_meta.cms', order: 'desc', missing: 'last' }] }),
      )
    expect(objectsIn(documents.value)).toMatchObject([
      {
        category: 'documents',
        action: 'updated',
        name: 'goods',
        states: [{}, { documents: COUNT, fields: ['tag'] }],
      },
    ])
  })

  test('in the background it stores a job, and changes none yet', async () => {
    const { status, body } = await ask('update', { set: { tag: 'x' }, filters: {}, in_background: true })
    expect([status, body]).toEqual([200, { count: COUNT, job: expect.any(String), run: expect.any(String) }])
    const job = await fixture.database.capabilities.jobs.get(String(objectsIn([body ?? null])[0]?.job))
    expect(job).toMatchObject({ kind: 'change', payload: { storage: 'goods', change: 'update' } })
    expect(await state()).toEqual(untouched)
  })
})

describe('former values', () => {
  const put = (body: JsonObject, as = 'admin') => fixture.send('POST', `${path}/put-back`, as, { body })
  const back = (at: number, from: JsonObject, to: JsonObject) => ({ guid: guids[at] ?? '', from, to })
  const one = () => back(1, { n: 1 }, { n: 7 })

  test.each<[string, () => JsonObject, string, number]>([
    ['nothing', () => ({}), 'admin', 400],
    ['an empty list', () => ({ changes: [] }), 'admin', 400],
    ['a document twice', () => ({ changes: [one()], restore: [guids[1] ?? ''] }), 'admin', 400],
    ['too many', () => ({ restore: Array.from({ length: 1001 }, (_, n) => `${n}`) }), 'admin', 400],
    ['no former values', () => ({ changes: [{ guid: guids[1] ?? '', to: { n: 7 } }] }), 'admin', 400],
    ['what Quoin writes', () => ({ changes: [back(1, {}, { '_meta.removed': 1 })] }), 'admin', 400],
    ['a bad name', () => ({ changes: [one(), back(2, {}, { __proto: 1, 'a..b': 1 })] }), 'admin', 400],
    ['without a sign-in', () => ({ changes: [one()] }), '', 401],
    ['without the scope', () => ({ changes: [one()] }), 'remover', 403],
  ])('%s is refused, and nothing is changed', async (_what, body, as, status) => {
    expect([(await put(body(), as)).status, await state()]).toEqual([status, untouched])
  })

  test('are put back and exchanged again; what was changed since stays and is named', async () => {
    await ask('update', { set: { tag: 'mine' }, guids: guids.slice(0, 4) })
    await ask('update', { set: { tag: 'theirs' }, guids: [guids[1] ?? ''] })
    await ask('remove', { guids: [guids[2] ?? ''] })
    const changes = [0, 1, 2, 3].map((at) => back(at, { tag: 'mine', n: at }, { tag: null, n: at }))
    const unknown = { guid: 'unknown', from: {}, to: { tag: null } }
    const reply = await put({ changes: [...changes, unknown] }, 'changer')
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        count: 2,
        run: expect.any(String),
        left: [
          { guid: guids[1], fields: ['tag'], message: 'It was changed since: tag.' },
          { guid: guids[2], fields: [], message: 'It was removed since.' },
          { guid: 'unknown', fields: [], message: 'It was deleted since.' },
        ],
      },
    ])
    const tags = async () => (await state()).map(([, tag]) => tag)
    expect(await tags()).toEqual([null, 'theirs', 'mine', null, undefined])
    const redo = changes.map(({ guid, from, to }) => ({ guid, from: to, to: from }))
    expect((await put({ changes: redo })).body).toMatchObject({ count: 2 })
    expect(await tags()).toEqual(['mine', 'theirs', 'mine', 'mine', undefined])
    // What holds the value already is no conflict, and no write.
    expect((await put({ changes: redo })).body).toMatchObject({
      count: 0,
      left: [{ guid: guids[1] }, { guid: guids[2] }],
    })
  })

  test('a rule of the field refuses one document, and the others are written', async () => {
    const changes = [back(0, { n: 0 }, { n: 8 }), back(1, { n: 1 }, { n: 10 }), back(2, { n: 2 }, { n: 9 })]
    expect((await put({ changes })).body).toMatchObject({
      count: 2,
      left: [{ guid: guids[1], fields: ['n'], message: expect.stringContaining('9') }],
    })
    expect((await state()).map(([n]) => n)).toEqual([8, 1, 9, 3, 4])
  })

  test('removed documents come back; those that are there stay, and those that are gone are named', async () => {
    await ask('remove', { guids: guids.slice(0, 2) })
    expect((await put({ restore: [...guids.slice(0, 3), 'unknown'] }, 'changer')).body).toEqual({
      count: 2,
      run: expect.any(String),
      left: [{ guid: 'unknown', fields: [], message: 'It was deleted since.' }],
    })
    expect(await present()).toBe(COUNT)
  })

  test('long documents are read in small pages', async () => {
    await fixture.database.drop('goods')
    await fixture.database.ensure('goods', {})
    const text = 'x'.repeat(200_000)
    const requested = Array.from({ length: 25 }, (_, n) => ({ mutations: setFields({ n: n % 9, text }) }))
    const made = await transact(fixture.database, (session) => createAll(session, 'goods', requested))
    const all = made.documents.map((document) => guidOf(documentOf(document)))
    const changes = all.map((guid, at) => ({ guid, from: { n: at % 9 }, to: { n: 9 } }))
    expect((await put({ changes })).body).toMatchObject({ count: 25, left: [] })
    expect(new Set((await state()).map(([n]) => n))).toEqual(new Set([9]))
  })
})

describe('with rules of the storage', () => {
  const both = { see: 'doc.n >= 3', change: 'doc.n != 4', remove: 'doc.n == 3' }
  beforeEach(async () => {
    guid = String(
      objectsIn(
        [
          (
            await fixture.send('POST', '/_system/storages/search', 'admin', {
              body: { filters: { name: 'goods' } },
            })
          ).body ?? null,
        ].flat(),
      ).map((record) => guidOf(record))[0],
    )
    expect(
      (await fixture.send('PUT', `/_system/storages/${guid}`, 'admin', { body: { rules: both } })).status,
    ).toBe(200)
  })
  afterEach(async () => {
    await fixture.send('PUT', `/_system/storages/${guid}`, 'admin', { body: { rules: {} } })
  })

  test('a job, which works for the application, is refused', async () => {
    const body = { set: { tag: 'x' }, filters: {}, in_background: true }
    expect(await ask('update', body, 'changer')).toMatchObject({
      status: 403,
      body: { error: 'DENIED_BY_RULE' },
    })
    expect((await ask('update', body)).status).toBe(200)
    expect(await state()).toEqual(untouched)
  })

  test('one that may not be changed refuses all of them', async () => {
    expect((await ask('update', { set: { tag: 'x' }, filters: {} }, 'changer')).status).toBe(403)
    expect(await state()).toEqual(untouched)
  })

  test('those that are not seen are left alone', async () => {
    const body = { set: { tag: 'x' }, filters: { n: { lte: 3 } } }
    expect((await ask('update', body, 'changer')).body).toEqual({
      count: 1,
      job: null,
      run: expect.any(String),
    })
    expect((await state()).filter(([, tag]) => tag === 'x')).toEqual([[3, 'x']])
    expect((await ask('remove', { guids: guids.slice(0, 4) }, 'remover')).body).toEqual({
      count: 1,
      job: null,
      run: expect.any(String),
    })
    expect(await present()).toBe(COUNT - 1)
  })

  test('former values: one that may not be changed refuses all; one that is not seen is gone', async () => {
    const changes = (at: number[]) =>
      at.map((n) => ({ guid: guids[n] ?? '', from: { tag: null }, to: { tag: 'x' } }))
    const put = (at: number[]) =>
      fixture.send('POST', `${path}/put-back`, 'changer', { body: { changes: changes(at) } })
    const denied = await put([3, 4])
    expect([denied.status, denied.body]).toMatchObject([
      403,
      { error: 'DENIED_BY_RULE', details: { documents: [{ guid: guids[4] }] } },
    ])
    expect(await state()).toEqual(untouched)
    expect((await put([0, 3])).body).toMatchObject({
      count: 1,
      left: [{ guid: guids[0], message: 'It was deleted since.' }],
    })
    expect((await state()).filter(([, tag]) => tag === 'x')).toEqual([[3, 'x']])
  })
})
