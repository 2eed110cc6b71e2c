import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Mutation, setFields } from '../../shared/mutation.ts'
import { matchAll, search } from '../../shared/query.ts'
import type { Claims } from '../../storage/claims.ts'
import { createAll } from '../../storage/create-all.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { changeDocuments } from '../../storage/many/change-documents.ts'
import { transact } from '../../storage/transact.ts'
import { upsertDocument } from '../../storage/upsert-document.ts'
import { keepsRules, type RawDatabase } from '../../storage/validated.ts'
import { TransparentSession, wrappedDatabase } from '../../storage/wrapped-session.ts'
import { createField, type FieldInput, getField, removeField, updateField } from './field-records.ts'
import { openFieldRules } from './field-rules.ts'
import { validatedDatabase } from './validated-database.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestDatabase
let database: Database
beforeEach(async () => {
  fixture = await openTestDatabase()
  const random = (bytes: Uint8Array) => void bytes.fill(7)
  database = validatedDatabase(fixture.database, await openFieldRules(fixture.database), {
    clock: fixture.clock,
    random,
  })
  await database.ensure('tickets')
})
afterEach(() => fixture.close())

const field = (input: FieldInput) => createField(database, { storage: 'tickets', ...input }, by)
const numbered = (input: FieldInput = {}) => field({ name: 'number', type: 'autonumber', ...input })
const create = (fields: JsonObject) =>
  transact(database, async (session) => documentOf(await session.create('tickets', setFields(fields))))
const change = (guid: string, mutations: readonly Mutation[]) =>
  transact(database, (session) => session.update('tickets', guid, mutations))
const stored = async () => {
  const sort = [{ field: 'title', order: 'asc', missing: 'last' }] as const
  const found = await fixture.database.session().find('tickets', search({ sort, limit: 100 }))
  return documentsOf(found).map(({ _meta, ...fields }) => fields)
}

/** How often the database is asked for numbers in one transaction. */
async function counted(work: (session: Session) => unknown): Promise<number> {
  let asked = 0
  class CountedSession extends TransparentSession {
    override numbers(...inputs: Parameters<Claims['numbers']>) {
      asked += 1
      return super.numbers(...inputs)
    }
  }
  const raw = fixture.database
  const session: RawDatabase['session'] = (origin) => new CountedSession(raw.session(origin))
  const seen: RawDatabase = { ...wrappedDatabase(raw, { session }), [keepsRules]: false }
  const world = { clock: fixture.clock, random: () => undefined }
  await transact(validatedDatabase(seen, await openFieldRules(raw), world), async (session) => work(session))
  return asked
}

describe('a field of the type autonumber', () => {
  test.each<[string, JsonObject]>([
    ['nothing', {}],
    ['null', { number: null }],
    ['a number', { number: 77 }],
    ['a text', { number: 'seven' }],
    ['an object', { number: { of: 1 } }],
    ['a field inside it', { 'number.of': 1 }],
  ])('gives each new document the next number, where %s is sent', async (_what, fields) => {
    await numbered()
    expect(await create(fields)).toMatchObject({ number: 1 })
    expect(await create(fields)).toMatchObject({ number: 2 })
  })

  test.each<[string, Mutation]>([
    ['set', { op: 'set', field: 'number', value: 9 }],
    ['emptied', { op: 'set', field: 'number', value: null }],
    ['removed', { op: 'remove', field: 'number' }],
    ['counted up', { op: 'increment', field: 'number', amount: 5 }],
    ['written inside', { op: 'set', field: 'number.of', value: 1 }],
  ])('keeps the number of a document in which it is %s, and leaves none out', async (_what, mutation) => {
    await numbered({ required: true })
    const guid = guidOf(await create({ title: 'a' }))
    await change(guid, [mutation, { op: 'set', field: 'title', value: 'b' }])
    expect(await stored()).toEqual([{ title: 'b', number: 1 }])
    expect(await create({})).toMatchObject({ number: 2 })
  })

  test('numbers many documents in their order', async () => {
    await numbered()
    await create({ title: 'a' })
    const many = ['b', 'c', 'd'].map((title) => ({ mutations: setFields({ title, number: 1 }) }))
    await transact(database, (session) => createAll(session, 'tickets', many))
    expect(await stored()).toEqual(['a', 'b', 'c', 'd'].map((title, at) => ({ title, number: at + 1 })))
  })

  test('numbers what follows one that is refused without a gap, and asks for none of it again', async () => {
    await numbered()
    await field({ name: 'title', type: 'string', unique: true })
    await create({ title: 'a' })
    const many = ['b', 'a', 'c', 'd'].map((title) => ({ mutations: setFields({ title }) }))
    const asked = await counted(async (session) => {
      const { documents, refused } = await createAll(session, 'tickets', many)
      expect([documents.length, refused]).toMatchObject([1, { code: 'CONFLICT', fields: ['title'] }])
      for (const title of ['c', 'd', 'e']) await session.create('tickets', setFields({ title }))
    })
    expect(asked).toBe(1)
    expect(await stored()).toEqual(['a', 'b', 'c', 'd', 'e'].map((title, at) => ({ title, number: at + 1 })))
    expect(await create({ title: 'f' })).toMatchObject({ number: 6 })
  })

  test('gives what was left of a transaction to none, also after a rollback', async () => {
    await numbered()
    await field({ name: 'title', type: 'string', unique: true })
    const many = ['a', 'b', 'b', 'c'].map((title) => ({ mutations: setFields({ title }) }))
    const session = database.session()
    await createAll(session, 'tickets', many)
    await session.transaction.rollback()
    const others = [await create({ title: 'x' }), await create({ title: 'y' })]
    await session.create('tickets', setFields({ title: 'z' }))
    await session.transaction.commit()
    // Where the counter goes back with the transaction, this one is given what was left.
    await create({ title: 'zz' })
    const numbers = (await stored()).map(({ number }) => number)
    expect([others.length, new Set(numbers).size]).toEqual([2, 4])
  })

  test('fills and restores many documents with numbers that are taken at once, and takes none for those that have one', async () => {
    const guids: string[] = []
    for (const title of ['a', 'b', 'c', 'd', 'e']) guids.push(guidOf(await create({ title })))
    const [, , , , removed = ''] = guids
    for (const guid of guids.slice(3))
      await transact(database, (session) => session.setRemoved('tickets', guid, true))
    await numbered()
    await field({
      name: 'invoice',
      type: 'string',
      computed: 'doc.number == null ? null : "INV-" + text(doc.number)',
    })
    const all = { storage: 'tickets', query: matchAll, includeRemoved: false, mutations: [] } as const
    const fill = { ...all, kind: 'update', mutations: [{ op: 'set', field: 'number', value: null }] } as const
    const none = () => expect.unreachable()
    const twice = async () => [
      await counted((session) => changeDocuments(session, fill, guids.slice(0, 3), none)),
      await counted((session) => changeDocuments(session, fill, guids.slice(0, 3), none)),
    ]
    expect(await twice()).toEqual([1, 0])
    const restore = { ...all, kind: 'restore', includeRemoved: true } as const
    expect(await counted((session) => changeDocuments(session, restore, guids.slice(3), none))).toBe(1)
    expect(await stored()).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((title, at) => ({ title, number: at + 1, invoice: `INV-${at + 1}` })),
    )
    expect(await create({ title: 'f' })).toMatchObject({ number: 6 })
    expect(await transact(database, (session) => session.setRemoved('tickets', removed, true))).toMatchObject(
      {
        outcome: 'written',
      },
    )
  })

  test('takes no number for a document that the other fields refuse', async () => {
    await numbered()
    await field({ name: 'title', type: 'string', required: true })
    await expect(create({})).rejects.toMatchObject({ code: 'INVALID_BODY', fields: ['title'] })
    expect(await create({ title: 'a' })).toMatchObject({ number: 1 })
  })

  test('begins at start, and goes on from one that is raised', async () => {
    const guid = guidOf(await numbered({ validation_rules: { start: 1000 } }))
    expect(await create({})).toMatchObject({ number: 1000 })
    await updateField(database, guid, { validation_rules: { start: 5 } }, by)
    expect(await create({})).toMatchObject({ number: 1001 })
    await updateField(database, guid, { validation_rules: { start: 2000 } }, by)
    expect(await create({})).toMatchObject({ number: 2000 })
  })

  test('is read by computed fields, and unique', async () => {
    await numbered()
    const computed = '"INV-" + padStart(text(doc.number), 5, "0")'
    await field({ name: 'invoice', type: 'string', computed })
    expect(await create({})).toMatchObject({ number: 1, invoice: 'INV-00001' })
    expect(database.capabilities.uniqueValues.of('tickets')).toMatchObject([{ name: 'number' }])
  })

  test('takes none for a trial, whose documents see those that would be next', async () => {
    await numbered()
    await field({ name: 'invoice', type: 'string', computed: '"INV-" + text(doc.number)' })
    await create({ title: 'a' })
    const trial = database.session({ trial: true })
    const tried = async () => documentOf(await trial.create('tickets', setFields({ number: 50 }))).invoice
    expect([await tried(), await tried()]).toEqual(['INV-2', 'INV-3'])
    await trial.transaction.rollback()
    expect(await create({ title: 'b' })).toMatchObject({ number: 2, invoice: 'INV-2' })
  })

  test('is found by an upsert, which keeps it', async () => {
    await numbered()
    await create({ title: 'a' })
    const set = (fields: JsonObject) => {
      const mutations = setFields(fields)
      const upsert = {
        storage: 'tickets',
        by: ['number'],
        fields,
        create: mutations,
        change: mutations,
      }
      return transact(database, (session) => upsertDocument(session, upsert))
    }
    expect(await set({ number: 1, title: 'b' })).toMatchObject({ created: false })
    expect(await set({ number: 50, title: 'c' })).toMatchObject({ created: true })
    expect(await stored()).toEqual([
      { title: 'b', number: 1 },
      { title: 'c', number: 2 },
    ])
  })

  test('gives no number again that a deleted document had, also when the field comes back', async () => {
    const guid = guidOf(await numbered())
    await create({ title: 'a' })
    const last = guidOf(await create({ title: 'b' }))
    await transact(database, (session) => session.delete('tickets', last))
    await removeField(database, guid, by)
    await create({ title: 'c' })
    await numbered()
    expect(await create({ title: 'd' })).toMatchObject({ number: 3 })
  })

  test('continues behind numbers that documents have, also removed ones', async () => {
    await create({ title: 'a', number: 4 })
    await create({ title: 'b' })
    const gone = guidOf(await create({ title: 'c', number: 9 }))
    await transact(database, (session) => session.setRemoved('tickets', gone, true))
    await numbered()
    expect(await create({ title: 'd' })).toMatchObject({ number: 10 })
    await transact(database, (session) => session.setRemoved('tickets', gone, false))
    expect((await stored()).map(({ number = null }) => number)).toEqual([4, null, 9, 10])
  })

  test('gives a document that is restored without one the next number, once, and what is computed of it', async () => {
    const early = guidOf(await create({ title: 'a' }))
    const taken = guidOf(await create({ title: 'b', number: 1 }))
    const setRemoved = (guid: string, removed: boolean) =>
      transact(database, (session) => session.setRemoved('tickets', guid, removed))
    for (const guid of [early, taken]) await setRemoved(guid, true)
    await numbered({ required: true })
    await field({ name: 'invoice', type: 'string', computed: '"INV-" + text(doc.number)' })
    for (const guid of [early, taken]) await setRemoved(guid, false)
    const written = await setRemoved(early, true)
    expect(written).toMatchObject({ outcome: 'written' })
    await setRemoved(early, false)
    expect(await stored()).toEqual([
      { title: 'a', number: 2, invoice: 'INV-2' },
      { title: 'b', number: 1 },
    ])
    expect(await create({ title: 'c' })).toMatchObject({ number: 3 })
    expect(await setRemoved(early, false)).toEqual({ outcome: 'not_found' })
  })

  test('continues behind the values of the integer field that it was', async () => {
    const guid = guidOf(await field({ name: 'number', type: 'integer' }))
    await create({ title: 'a', number: 6 })
    await updateField(database, guid, { type: 'autonumber' }, by)
    expect(await getField(database, guid)).toMatchObject({ unique: true })
    expect(await create({ title: 'b' })).toMatchObject({ number: 7 })
  })

  test.each<[string, readonly JsonObject[]]>([
    ['one of them is a text', [{ number: 'A1' }]],
    ['two of them are the same', [{ number: 1 }, { number: 1 }]],
  ])('is refused where documents have values and %s', async (_what, documents) => {
    for (const document of documents) await create(document)
    const refused = expect.objectContaining({
      code: 'CONFLICT',
      details: expect.objectContaining({ total: 1 }),
    })
    await expect(numbered()).rejects.toEqual(refused)
    expect(await create({ number: 'B' })).toMatchObject({ number: 'B' })
  })

  test.each<[string, FieldInput, string]>([
    ['has a default', { default_value: 1 }, 'type'],
    ['is computed', { computed: '1' }, 'type'],
    ['has a name with dots', { name: 'a.b' }, 'type'],
    ['belongs to no storage', { storage: null }, 'type'],
    ['has a minimum', { validation_rules: { min: 1 } }, 'validation_rules.min'],
    ['is unique with others', { unique: 'pair' }, 'unique'],
  ])('is refused when it %s', async (_what, input, name) => {
    await expect(numbered(input)).rejects.toMatchObject({ code: 'INVALID_BODY', fields: [name] })
  })
})
