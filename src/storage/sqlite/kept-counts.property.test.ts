/** Kept counts against counting anew, while documents come, change and go, in transactions that are kept or undone. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someSearch, tidyBody, untidyBody } from '../../../test/arbitrary-documents.ts'
import { testClock } from '../../../test/temporary-storage.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { type Search, search } from '../../shared/query.ts'
import { set } from '../conformance/expectations.ts'
import { documentsOf } from '../find-documents.ts'
import { searchDocuments } from '../order-documents.ts'
import type { Session } from '../storage.ts'
import { followWrites } from './kept-results.ts'
import { openGround, type SqliteGround } from './sqlite-ground.ts'
import { SqliteStorage } from './sqlite-storage.ts'

let directory: string
let ground: SqliteGround
let storage: SqliteStorage

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  ground = await openGround({
    directory,
    clock: testClock(),
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
  })
  storage = new SqliteStorage(ground)
})

afterAll(async () => {
  await storage.close()
  await rm(directory, { recursive: true })
})

const at = fc.nat({ max: 20 })
const body = fc.oneof(tidyBody, untidyBody)
const step = fc.oneof(
  { arbitrary: fc.record({ do: fc.constant('create' as const), body }), weight: 3 },
  fc.record({ do: fc.constant('update' as const), at, body }),
  fc.record({ do: fc.constantFrom('delete' as const, 'remove' as const, 'restore' as const), at }),
  fc.record({ do: fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const) }),
  { arbitrary: fc.record({ do: fc.constant('count' as const), at }), weight: 4 },
)

const everything = search({ limit: 10_000, includeRemoved: true })

async function expectSame(session: Session, name: string, { query, includeRemoved }: Search): Promise<void> {
  const all = documentsOf(await session.find(name, everything))
  const expected = searchDocuments(all, search({ query, includeRemoved, limit: 10_000 })).length
  expect(await session.count(name, query, includeRemoved)).toBe(expected)
}

let count = 0

const property = fc.asyncProperty(
  fc.array(someSearch, { minLength: 1, maxLength: 4 }),
  fc.array(step, { minLength: 5, maxLength: 30 }),
  async (searches, steps) => {
    const name = `counted_${count++}`
    await storage.ensure(name)
    const session = storage.session()
    const guids: string[] = []
    const create = async (one: JsonObject) => {
      const made = (await session.create(name, set(one))).value
      guids.push(String(isJsonObject(made) && isJsonObject(made._meta) ? made._meta.guid : ''))
    }
    for (const wanted of searches) await expectSame(session, name, wanted)
    for (const one of steps) {
      const guid = guids['at' in one ? one.at % Math.max(1, guids.length) : 0] ?? ''
      if (one.do === 'create') await create(one.body)
      else if (one.do === 'update') await session.update(name, guid, set(one.body))
      else if (one.do === 'commit' || one.do === 'rollback') await session[one.do]()
      else if (one.do === 'count') {
        const wanted = searches[one.at % searches.length] ?? search()
        await expectSame(session, name, wanted)
        await expectSame(storage.session(), name, wanted)
      } else await session[one.do](name, guid)
    }
    await session.commit()
    for (const wanted of searches) await expectSame(storage.session(), name, wanted)
    await storage.drop(name)
  },
)

test('a count is what counting anew would give, whoever asks and whatever happened', async () => {
  await fc.assert(property, { numRuns: 200 })
})

test('a count is kept: after a write it is not counted anew', async () => {
  await storage.ensure('kept')
  const session = storage.session()
  const ask = () => storage.session().count('kept', { kind: 'term', field: 'n', value: 1 })
  const entry = () => ground.catalogue.entry('kept')
  const key = JSON.stringify([{ kind: 'term', field: 'n', value: 1 }, false])
  const known = () => {
    followWrites(ground, entry())
    return entry().counts?.known(key)
  }
  for (const n of [1, 1, 2]) await session.create('kept', set({ n }))
  await session.commit()
  expect(ask()).toBe(2)
  await session.create('kept', set({ n: 1 }))
  await session.commit()
  expect(known()).toBe(3)
  // More than is worth judging: counted anew, and right.
  for (let n = 0; n < 300; n++) await session.create('kept', set({ n: 1 }))
  await session.commit()
  expect(known()).toBeUndefined()
  expect(ask()).toBe(303)
})
