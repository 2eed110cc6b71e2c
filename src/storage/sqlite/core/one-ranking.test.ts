/**
 * After 10,000 changes each path ranks as the reference does: a session, a session with uncommitted writes, and the search
 * thread. Tested in a small storage, which is searched in the calling thread, and in one with more documents than are
 * searched in one turn.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { metaOf, set } from '../../../../test/conformance/expectations.ts'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { rankedBody, rankedSearches } from '../../../../test/conformance/ranking.ts'
import { openSqliteWorld, type SqliteWorld } from '../../../../test/sqlite-world.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { type Search, search } from '../../../shared/query.ts'
import type { Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { documentsOf } from '../../find-documents.ts'
import { EFFORT_OF_A_SEARCH } from '../../search/search-effort.ts'

const CHANGES = 10_000
const SMALL = 60
/** More than are searched in a turn. */
const LARGE = 2_200

let world: SqliteWorld

beforeAll(async () => {
  world = await openSqliteWorld()
})
afterAll(() => world.close())

const documents = (json: string): JsonObject[] => (JSON.parse(json) as unknown[]).filter(isJsonObject)

/** Every path that sees the committed documents. */
const paths: Record<string, (name: string, requested: Search) => Promise<JsonObject[]>> = {
  'a session': async (name, requested) => documentsOf(await world.database.session().find(name, requested)),
  'the search thread': async (name, requested) => {
    const { thread } = world.parts
    const task = { storage: name, search: requested, total: false, effort: EFFORT_OF_A_SEARCH }
    return documents((await thread.find(task)).documents)
  },
}

async function all(session: Session, name: string): Promise<JsonObject[]> {
  return documentsOf(await session.find(name, search({ limit: 10_000, includeRemoved: true })))
}

/** In a storage of so many documents. Gives their guids. */
async function make(name: string, size: number, seed: number): Promise<string[]> {
  await world.database.ensure(name, { text: true })
  const session = world.database.session()
  const guids: string[] = []
  for (const body of fc.sample(rankedBody, { seed, numRuns: size }))
    guids.push(metaOf(await session.create(name, set(body))).guid)
  await session.transaction.commit()
  return guids
}

/** Most are updates; documents are also removed, restored, deleted and made again, and some changes are undone. */
async function change(
  name: string,
  guids: string[],
  { changes, seed }: { readonly changes: number; readonly seed: number },
): Promise<void> {
  const bodies = fc.sample(rankedBody, { seed: seed + 1, numRuns: 500 })
  const session = world.database.session()
  let kept = [...guids]
  for (let n = 0; n < changes; n++) {
    const place = (n * 7) % guids.length
    const guid = guids[place] ?? ''
    const body = set(bodies[n % bodies.length] ?? {})
    if (n % 10 === 0) await session.setRemoved(name, guid, true)
    else if (n % 10 === 1) await session.setRemoved(name, guid, false)
    else if (n % 10 === 2) {
      await session.delete(name, guid)
      guids[place] = metaOf(await session.create(name, body)).guid
    } else await session.update(name, guid, body)
    if (n % 130 === 90) {
      await session.transaction.rollback()
      guids.splice(0, guids.length, ...kept)
    } else if (n % 25 === 0) {
      await session.transaction.commit()
      kept = [...guids]
    }
  }
  await session.transaction.commit()
}

/** Other documents and searches in each run of the suite; a failure says which. */
function withSeed(work: (seed: number) => Promise<void>): Promise<void> {
  return fc.assert(fc.asyncProperty(fc.nat({ max: 1_000_000 }), work), { numRuns: 1, endOnFailure: true })
}

test.each([
  ['small', SMALL, 6],
  ['large', LARGE, 1],
])('%s storage', (name, size, rounds) =>
  withSeed(async (seed) => {
    const guids = await make(name, size, seed)
    await change(name, guids, { changes: CHANGES, seed })
    const stored = await all(world.database.session(), name)
    for (const requested of fc.sample(rankedSearches, { seed, numRuns: rounds }).flat()) {
      const expected = searchDocuments(stored, requested).map(guidOf)
      for (const [who, find] of Object.entries(paths)) {
        const found = (await find(name, requested)).map(guidOf)
        expect(found, `${who}: ${JSON.stringify(requested)}`).toEqual(expected)
      }
    }
  }),
)

test('a transaction that has written finds its own documents ranked with all others', () =>
  withSeed(async (seed) => {
    const guids = await make('own', SMALL, seed)
    await change('own', guids, { changes: 500, seed })
    const session = world.database.session()
    await session.delete('own', guids[0] ?? '')
    await session.create('own', set({ note: 'cat '.repeat(300), title: 'dog' }))
    const stored = await all(session, 'own')
    for (const requested of fc.sample(rankedSearches, { seed, numRuns: 3 }).flat()) {
      const found = documentsOf(await session.find('own', requested))
      expect(found.map(guidOf), JSON.stringify(requested)).toEqual(
        searchDocuments(stored, requested).map(guidOf),
      )
    }
    await session.transaction.rollback()
  }))
