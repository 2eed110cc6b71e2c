import { expect } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { matchAll } from '../../src/shared/query.ts'
import { createAll } from '../../src/storage/create-all.ts'
import type { NewDocument, Session } from '../../src/storage/database.ts'
import { bodyOf, create, failure, metaOf, set } from './expectations.ts'
import type { It } from './world.ts'

const document = (fields: JsonObject): NewDocument => ({ mutations: set(fields) })
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => document({ n: from + index }))
const unique = { indexes: [{ fields: ['n'], unique: true }] }

async function refusal(session: Session, name: string, documents: readonly NewDocument[]) {
  const { documents: made, refused } = await createAll(session, name, documents)
  return [made.length, refused?.code]
}

export function createAllChapter(it: It): void {
  it('a document that cannot be made is told, and those before it are made', async ({ database, name }) => {
    await database.ensure(name, unique)
    await create(database, name, { n: 100 })
    const guid = '018f0000-0000-7000-8000-000000000001'
    const withGuid = { mutations: set({}), options: { guid } }
    const bad: NewDocument = { mutations: [{ op: 'set', field: 'a..b', value: 1 }] }
    const mixed: NewDocument = {
      mutations: [...set({ s: 'text' }), { op: 'increment', field: 's', amount: 1 }],
    }
    const refused: [NewDocument[], number, string][] = [
      [[...numbers(0, 3), document({ n: 100 }), ...numbers(3, 6)], 3, 'CONFLICT'],
      [[document({ n: 100 })], 0, 'CONFLICT'],
      [[...numbers(0, 3), document({ n: 1 })], 3, 'CONFLICT'],
      [[withGuid, ...numbers(0, 2), withGuid], 3, 'CONFLICT'],
      [[...numbers(0, 2), bad, document({ n: 100 })], 2, 'INVALID_BODY'],
      [[document({ n: 100 }), bad], 0, 'CONFLICT'],
      [[mixed, document({ n: 100 })], 0, 'INVALID_BODY'],
    ]
    for (const [documents, index, code] of refused) {
      const session = database.session()
      expect(await refusal(session, name, documents)).toEqual([index, code])
      // The session goes on as after a `create` that was refused.
      expect(await session.count(name, matchAll)).toBe(index + 1)
      await session.create(name, set({ n: -1 }))
      expect(await session.count(name, matchAll)).toBe(index + 2)
      await session.transaction.rollback()
    }
    expect(await database.session().count(name, matchAll)).toBe(1)
    const error = (await createAll(database.session(), name, [document({ n: 100 })])).refused
    expect([error?.message.includes('n'), error?.cause]).toEqual([true, undefined])
  })

  it('of a storage that does not exist it throws', async ({ database, name }) => {
    await failure('INTERNAL', () => createAll(database.session(), 'no_such_storage', numbers(0, 2)))
    expect(await database.session().count(name, matchAll)).toBe(0)
  })

  it('makes what create makes, in order, with what a document brings, all or nothing', async ({
    database,
    name,
  }) => {
    await database.ensure(name, { ...unique, text: true })
    const session = database.session()
    const guid = '018f0000-0000-7000-8000-000000000002'
    const { documents, refused } = await createAll(session, name, [
      ...numbers(0, 300),
      { mutations: set({ words: 'a "red" house\\, {or} two' }), options: { guid, cms: 5_000, expiry: 77 } },
      document({}),
    ])
    expect([documents.length, refused]).toEqual([302, undefined])
    const metas = documents.map(metaOf)
    expect(metas[300]).toMatchObject({ guid, cms: 5_000, ums: 5_000, created: 5, expiry: 77, removed: 0 })
    const guids = metas.slice(0, 300).map((meta) => meta.guid)
    expect(guids).toEqual(guids.toSorted())
    expect(await database.session().count(name, matchAll)).toBe(0)
    await session.transaction.commit()
    const reader = database.session()
    expect(await reader.count(name, matchAll)).toBe(302)
    for (const [index, made] of documents.entries()) {
      const stored = await reader.get(name, metas[index]?.guid ?? '')
      expect(stored?.text).toBe(made.text)
    }
    expect(bodyOf(documents[7])).toEqual({ n: 7 })
    const text = { kind: 'simple_query_string', fields: [], text: '"red house"' } as const
    expect(await reader.count(name, text)).toBe(1)
  })

  it('tells observers of each, and nothing is made of nothing', async ({ database, name }) => {
    const reported: unknown[] = []
    const end = database.observe(name, (_session, { kind, guid, before, after }) => {
      reported.push([kind, guid, before, after && bodyOf(after)])
    })
    const session = database.session()
    expect(await createAll(session, name, [])).toEqual({ documents: [], refused: undefined })
    expect(session.transaction.hasWritten).toBe(false)
    const { documents } = await createAll(session, name, numbers(0, 3))
    end()
    expect(reported).toEqual(documents.map((made, n) => ['created', metaOf(made).guid, undefined, { n }]))
    await session.transaction.commit()
  })

  it('raises the version of the storage once it is committed', async ({ database, name }) => {
    const before = database.capabilities.changes.version(name)
    const session = database.session()
    await createAll(session, name, numbers(0, 3))
    expect(database.capabilities.changes.version(name)).toBe(before)
    await session.transaction.commit()
    expect(database.capabilities.changes.version(name)).toBeGreaterThan(before)
  })
}
