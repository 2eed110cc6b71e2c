/** Updates that begin from what this node knows of a document: one round trip, and the same as if they had read it. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { postgresPort } from '../../../../test/postgres/shared-postgres.ts'
import { openTripProxy, type TripProxy } from '../../../../test/postgres/trip-proxy.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { type Mutation, setFields } from '../../../shared/mutation.ts'
import { matchAll } from '../../../shared/query.ts'
import { type Database, documentOf, type Session, type WriteCondition } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { UnitConflict } from '../../unit-of-work.ts'

let temporary: TemporaryDatabase
let proxy: TripProxy
let admin: Client
let one: Database
let two: Database
let name = ''
let names = 0

beforeAll(async () => {
  temporary = await openTemporaryDatabase()
  proxy = await openTripProxy(await postgresPort())
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  one = await openNode(url.href, { node: 'one', listenUrl: temporary.url })
  two = await openNode(temporary.url, { node: 'two' })
})
beforeEach(async () => {
  name = `things_${++names}`
  await one.ensure(name)
})
afterAll(async () => {
  await one.close()
  await two.close()
  await admin.end()
  await proxy.close()
  await temporary.drop()
})

const increment: readonly Mutation[] = [{ op: 'increment', field: 'n', amount: 1 }]
const create = (database: Database, fields = {}) =>
  transact(database, async (session) => guidOf(documentOf(await session.create(name, setFields(fields)))))
const bodyOf = async (guid: string) => {
  const { _meta, ...body } = documentOf((await two.session().get(name, guid)) ?? fail())
  return body
}
const guessing = () => one.session({ guesses: true })

/** A document that node one knows, in a storage whose guesses it trusts. */
async function known(fields = {}): Promise<string> {
  const guid = await create(one, { n: 1, ...fields })
  await transact(one, (session) => session.update(name, guid, setFields({ n: 1 })))
  return guid
}

async function tripsOf(work: () => unknown): Promise<number> {
  const before = proxy.trips
  await work()
  return proxy.trips - before
}

async function committed(work: (session: Session) => unknown): Promise<string> {
  const session = guessing()
  try {
    await work(session)
    await session.transaction.commit()
    return 'stored'
  } catch (error) {
    await session.transaction.rollback()
    if (error instanceof UnitConflict) return 'wrong'
    throw error
  }
}

test('a known document is updated in one round trip, again and again', async () => {
  const guid = await known({ text: 'ö "quoted" \\ \u2028' })
  for (const n of [2, 3, 4]) {
    let document: unknown
    const trips = await tripsOf(() =>
      committed(async (session) => {
        const written = await session.update(name, guid, increment)
        expect(written.outcome).toBe('written')
        if (written.outcome !== 'not_found') document = documentOf(written.document)
      }),
    )
    expect(trips).toBe(1)
    expect(documentOf((await two.session().get(name, guid)) ?? fail())).toEqual(document)
    expect(await bodyOf(guid)).toMatchObject({ n })
  }
})

test('control: without a session that may guess, and of a document that is not known, it takes two', async () => {
  const guid = await known()
  expect(await tripsOf(() => transact(one, (session) => session.update(name, guid, increment)))).toBe(2)
  const other = await create(two, { n: 1 })
  expect(await tripsOf(() => committed((session) => session.update(name, other, increment)))).toBe(2)
})

const changes: readonly (readonly [string, (guid: string) => unknown])[] = [
  ['changed', (guid) => transact(two, (session) => session.update(name, guid, setFields({ by: 'two' })))],
  ['removed', (guid) => transact(two, (session) => session.setRemoved(name, guid, true))],
  ['deleted', (guid) => transact(two, (session) => session.delete(name, guid))],
  [
    'replaced',
    async (guid) => {
      await transact(two, (session) => session.delete(name, guid))
      await transact(two, (session) => session.create(name, setFields({ n: 1 }), { guid }))
    },
  ],
]

describe.each(changes)('a document that another node has %s', (_what, change) => {
  const others: readonly (readonly [string, (session: Session) => unknown])[] = [
    ['alone', () => undefined],
    ['with another write', (session) => session.create(name, [])],
    ['and a read', (session) => session.count(name, matchAll)],
    [
      'and a job',
      (session) => session.enqueue({ queue: 'default', kind: 'event', title: 'test', payload: {} }),
    ],
  ]

  test.each(others)('makes the update a conflict, and nothing is stored: %s', async (_with, other) => {
    const guid = await known()
    await change(guid)
    const before = await two.session().get(name, guid, { removed: true })
    const ended = await committed(async (session) => {
      expect(await session.update(name, guid, increment)).toMatchObject({ outcome: 'written' })
      await other(session)
    })
    expect(ended).toBe('wrong')
    expect((await two.session().get(name, guid, { removed: true }))?.text).toBe(before?.text)
    expect(await two.session().count(name, matchAll, true)).toBe(before ? 1 : 0)
    expect((await admin.query('SELECT 1 FROM job')).rowCount).toBe(0)
  })
})

test('two sessions that update the same document at once both count', async () => {
  const guid = await known()
  const once = async () => {
    const ended = await committed((session) => session.update(name, guid, increment))
    if (ended === 'wrong') await transact(one, (session) => session.update(name, guid, increment))
  }
  await Promise.all(Array.from({ length: 20 }, once))
  expect(await bodyOf(guid)).toEqual({ n: 21 })
})

const byTwo = (guid: string) => transact(two, (session) => session.update(name, guid, setFields({ n: 10 })))

test('of a session only the first write is a guess', async () => {
  const [first, second] = [await known(), await known()]
  await byTwo(second)
  const ended = await committed(async (session) => {
    await session.update(name, first, increment)
    await session.update(name, second, increment)
  })
  expect(ended).toBe('stored')
  expect(await Promise.all([first, second].map(bodyOf))).toEqual([{ n: 2 }, { n: 11 }])
})

test('and none behind a commit, also one of nothing', async () => {
  const guid = await known()
  await byTwo(guid)
  const session = guessing()
  await session.transaction.commit()
  await session.update(name, guid, increment)
  await session.transaction.commit()
  expect(await bodyOf(guid)).toEqual({ n: 11 })
})

const refusals: readonly (readonly [string, unknown, readonly Mutation[], WriteCondition | undefined])[] = [
  ['conflict', 'conflict', increment, { updateHash: 'other' }],
  ['refused', 'refused', increment, { allows: (document) => documentOf(document).by === 'two' }],
  ['a mutation that does not fit', 'INVALID_BODY', [{ op: 'append', field: 'n', value: 1 }], undefined],
]

test.each(refusals)('a guess is no reason to refuse: %s', async (_what, refusal, mutations, condition) => {
  const outcome = (guid: string) =>
    committed(async (session) => {
      const written = await session.update(name, guid, mutations, condition)
      throw Object.assign(new Error(), { outcome: written.outcome })
    }).catch((error) => error.outcome ?? error.code)
  const guid = await known()
  expect(await outcome(guid)).toBe(refusal)
  // What is stored by now allows it.
  if (refusal === 'conflict') return
  const again = await known()
  await transact(two, (session) => session.update(name, again, setFields({ by: 'two', n: [] })))
  expect(await outcome(again)).toBe(refusal === 'refused' ? 'INVALID_BODY' : 'written')
})

test('what a unique key or index may refuse is no guess', async () => {
  const key = { name: 'sku', fields: [{ name: 'sku', ignoreCase: true, ignoreAccents: false }] }
  expect(await one.capabilities.uniqueValues.keep(name, key)).toBeUndefined()
  await create(two, { sku: 'a' })
  const guid = await known({ sku: 'b' })
  expect(await tripsOf(() => committed((session) => session.update(name, guid, increment)))).toBe(1)
  const taken = committed((session) => session.update(name, guid, setFields({ sku: 'A' })))
  await expect(taken).rejects.toMatchObject({ code: 'CONFLICT', fields: ['sku'] })
  await one.ensure(name, { indexes: [{ fields: ['name'], unique: true }] })
  await create(two, { name: 'x', sku: 'c' })
  const named = committed((session) => session.update(name, guid, setFields({ name: 'x' })))
  await expect(named).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('where guesses are wrong, documents are read first, until they would be right again', async () => {
  const guid = await known()
  const byOne = () => committed((session) => session.update(name, guid, increment))
  const ends: string[] = []
  for (let turn = 0; turn < 5; turn++) {
    await byTwo(guid)
    ends.push(await byOne())
    if (ends.at(-1) === 'wrong') await transact(one, (session) => session.update(name, guid, increment))
  }
  expect(ends).toEqual(['wrong', 'stored', 'stored', 'stored', 'stored'])
  for (let turn = 0; turn < 20; turn++) await byOne()
  expect(await tripsOf(byOne)).toBe(1)
})

function fail(): never {
  throw new Error('The document is gone.')
}
