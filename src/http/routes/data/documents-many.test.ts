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
})
