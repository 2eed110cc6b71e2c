/** What rules that lead to other documents cost in statements, and writes that meet other writes. */
import { randomFillSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, search } from '../../shared/query.ts'
import { createAll } from '../../storage/create-all.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, objectsIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import { createField } from '../fields/field-records.ts'
import { openFieldRules } from '../fields/field-rules.ts'
import { validatedDatabase } from '../fields/validated-database.ts'
import { subjectOf } from './judge.ts'
import { openPermissions, type Permissions } from './permissions.ts'

const by = { guid: 'u', username: 'ann' }
const ann = subjectOf({ _meta: { guid: 'a' }, username: 'ann' }, new Set())
const own = 'doc.supplier.owner == user.guid && doc.supplier.region.open == true'
const statements: string[] = []
/** Runs once, between the reads of a write and the write itself. */
let meanwhile: (() => Promise<unknown>) | undefined
let fixture: TestDatabase
let permissions: Permissions
let suppliers: readonly string[] = []

class CountingSession extends TransparentSession {
  override get(...asked: Parameters<Session['get']>) {
    statements.push(`get ${asked[0]}`)
    return super.get(...asked)
  }
  override find(...asked: Parameters<Session['find']>) {
    statements.push(`find ${asked[0]}`)
    return super.find(...asked)
  }
  override count(...asked: Parameters<Session['count']>) {
    statements.push(`count ${asked[0]}`)
    return super.count(...asked)
  }
  override async update(...asked: Parameters<Session['update']>) {
    statements.push(`update ${asked[0]}`)
    const first = meanwhile
    meanwhile = undefined
    await first?.()
    return super.update(...asked)
  }
}

beforeAll(async () => {
  fixture = await openTestDatabase()
  const rules = await openFieldRules(fixture.database)
  const database = validatedDatabase(fixture.database, rules, {
    clock: Date.now,
    random: (bytes) => void randomFillSync(bytes),
  })
  for (const name of ['regions', 'suppliers', 'goods']) await fixture.database.ensure(name)
  for (const [storage, name, target] of [
    ['suppliers', 'region', 'regions'],
    ['goods', 'supplier', 'suppliers'],
  ] as const)
    await createField(database, { storage, name, type: 'reference', reference: { storage: target } }, by)
  for (const name of ['places', 'visits']) await fixture.database.ensure(name)
  const text = { storage: 'places', name: 'town', type: 'string', ignore_case: true } as const
  await createField(database, text, by)
  await createField(database, { storage: 'places', name: 'at', type: 'instant' }, by)
  await createField(
    database,
    { storage: 'visits', name: 'place', type: 'reference', reference: { storage: 'places' } },
    by,
  )
  await transact(fixture.database, (session) =>
    session.create(
      systemStorages.storages,
      setFields({ name: 'goods', rules: { see: own, create: own, change: own, remove: own } }),
    ),
  )
  permissions = openPermissions({ rules, clock: Date.now, warn: (message) => expect(message).toBe('') })
})
afterAll(() => fixture.close())

const create = (storage: string, fields: JsonObject) =>
  transact(fixture.database, async (session) =>
    guidOf(documentOf(await session.create(storage, setFields(fields)))),
  )
const change = (storage: string, guid: string, fields: JsonObject) =>
  transact(fixture.database, (session) => session.update(storage, guid, setFields(fields)))

beforeEach(async () => {
  for (const name of ['goods', 'suppliers', 'regions'])
    await transact(fixture.database, async (session) => {
      const all = await session.find(name, search({ limit: 1_000, includeRemoved: true }))
      for (const one of objectsIn(all.documents.value)) await session.delete(name, guidOf(one))
    })
  const region = await create('regions', { open: true })
  const made: string[] = []
  for (const owner of ['a', 'a', 'b']) made.push(await create('suppliers', { owner, region }))
  suppliers = made
  statements.length = 0
})

/** On behalf of ann, with its statements counted. */
async function asAnn<T>(work: (session: Session) => T | Promise<T>): Promise<T> {
  const plain = fixture.database.session()
  const session = permissions.session(new CountingSession(plain), ann)
  try {
    const result = await work(session)
    await plain.transaction.commit()
    return result
  } catch (error) {
    await plain.transaction.rollback()
    throw error
  }
}
const supplied = (at: number) => setFields({ n: at, supplier: suppliers[at % 3] ?? null })

test('a list, a count and a document are one statement each, however many documents there are', async () => {
  const guids: string[] = []
  for (let at = 0; at < 30; at++)
    guids.push(await create('goods', { n: at, supplier: suppliers[at % 3] ?? null }))
  const found = await asAnn((session) => session.find('goods', search({ limit: 30 })))
  expect([found.length, statements]).toEqual([20, ['find goods']])
  expect(await asAnn((session) => session.count('goods', matchAll))).toBe(20)
  const seen = await asAnn((session) => session.get('goods', guids[0] ?? ''))
  expect(seen?.text).toBe((await fixture.database.session().get('goods', guids[0] ?? ''))?.text)
  expect(await asAnn((session) => session.get('goods', guids[2] ?? ''))).toBeUndefined()
  expect(statements.slice(1)).toEqual(['count goods', 'find goods', 'find goods'])
})

test('many new documents are judged with one search for each step', async () => {
  const documents = [0, 1, 3, 4, 6, 7].map((at) => ({ mutations: supplied(at) }))
  const made = await asAnn((session) => createAll(session, 'goods', documents))
  expect([made.documents.length, statements]).toEqual([6, ['find suppliers', 'find regions']])
})

test('a change is judged before and after, with the document and each step read once for both', async () => {
  const guid = await create('goods', { n: 0, supplier: suppliers[0] ?? null })
  const update = (fields: JsonObject) => asAnn((session) => session.update('goods', guid, setFields(fields)))
  expect((await update({ n: 1 })).outcome).toBe('written')
  const judged = ['find suppliers', 'find regions']
  expect(statements).toEqual(['get goods', ...judged, 'update goods', ...judged])
  await expect(update({ supplier: suppliers[2] ?? null })).rejects.toMatchObject({ code: 'DENIED_BY_RULE' })
  expect((await update({ supplier: suppliers[1] ?? null })).outcome).toBe('written')
})

test('a document that another client changes between the verdict and the write is judged again', async () => {
  const guid = await create('goods', { n: 0, supplier: suppliers[0] ?? null })
  const update = () => asAnn((session) => session.update('goods', guid, setFields({ n: 1 })))
  meanwhile = () => change('goods', guid, { supplier: suppliers[2] ?? null })
  expect((await update()).outcome).toBe('not_found')
  meanwhile = () => change('goods', guid, { supplier: suppliers[0] ?? null })
  expect((await update()).outcome).toBe('written')
  meanwhile = () => change('goods', guid, { remark: 'x' })
  expect((await update()).outcome).toBe('written')
  expect((await fixture.database.session().get('goods', guid))?.value).toMatchObject({ n: 1, remark: 'x' })
  meanwhile = () => transact(fixture.database, (session) => session.delete('goods', guid))
  expect((await update()).outcome).toBe('not_found')
})

test('one that is changed each time is a conflict in the end', async () => {
  const guid = await create('goods', { n: 0, supplier: suppliers[0] ?? null })
  const again = async () => {
    await change('goods', guid, { touched: statements.length })
    meanwhile = again
  }
  meanwhile = again
  const update = asAnn((session) => session.update('goods', guid, setFields({ n: 1 })))
  await expect(update).rejects.toMatchObject({ code: 'CONFLICT' })
  meanwhile = undefined
})

test.each<[string, string, JsonObject]>([
  ['a text in any case', 'doc.town == "BERLIN"', { town: 'Berlin' }],
  ['a list of texts', 'contains(["bonn", "BERLIN"], doc.town)', { town: 'Berlin' }],
  ['an instant of another zone', 'doc.at == "2026-03-01T10:00:00+01:00"', { at: '2026-03-01T09:00:00.000Z' }],
  ['instants from one on', 'doc.at >= "2026-03-01T10:00:00+01:00"', { at: '2026-03-01T09:30:00.000Z' }],
])(
  'a rule sees the same in a document as in a list: %s, also of one that is referred to',
  async (_what, rule, fields) => {
    const place = await create('places', fields)
    const visit = await create('visits', { place })
    await transact(fixture.database, async (session) => {
      for (const [name, see] of [
        ['places', rule],
        ['visits', rule.replaceAll('doc.', 'doc.place.')],
      ] as const) {
        const query = { kind: 'term', field: 'name', value: name } as const
        const { documents } = await session.find(systemStorages.storages, search({ query }))
        for (const one of objectsIn(documents.value))
          await session.delete(systemStorages.storages, guidOf(one))
        await session.create(systemStorages.storages, setFields({ name, rules: { see, change: see } }))
      }
    })
    for (const [storage, guid] of [
      ['places', place],
      ['visits', visit],
    ] as const) {
      const query = { kind: 'term', field: '_meta.guid', value: guid } as const
      const list = await asAnn((session) => session.find(storage, search({ query })))
      const one = await asAnn((session) => session.get(storage, guid))
      const changed = await asAnn((session) => session.update(storage, guid, setFields({ note: 1 })))
      expect([storage, list.length, one !== undefined, changed.outcome]).toEqual([
        storage,
        1,
        true,
        'written',
      ])
    }
  },
)
