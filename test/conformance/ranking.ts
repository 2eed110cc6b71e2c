/** The order of relevance is that of the reference, however often documents were changed and deleted before. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type Query, type Search, search } from '../../src/shared/query.ts'
import type { Session } from '../../src/storage/database.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { metaOf, set } from './expectations.ts'
import { searchDocuments } from './order-documents.ts'
import type { It, World } from './world.ts'

const DOCUMENTS = 40
const CHANGES = 400

async function expectReferenceOrder(session: Session, name: string): Promise<void> {
  const all = documentsOf(await session.find(name, search({ limit: 10_000, includeRemoved: true })))
  for (const requested of fc.sample(rankedSearches, { seed: 7, numRuns: 2 }).flat()) {
    const found = documentsOf(await session.find(name, requested))
    expect(found, JSON.stringify(requested)).toEqual(searchDocuments(all, requested))
  }
}

async function rewrite({ database, name }: World): Promise<void> {
  const bodies = fc.sample(rankedBody, { seed: 3, numRuns: DOCUMENTS + CHANGES })
  const guids: string[] = []
  const session = database.session()
  for (const [n, body] of bodies.entries()) {
    // Short commits and long ones.
    if (n % 7 === 0 || n % 90 > 70) await session.transaction.commit()
    const place = n < DOCUMENTS ? n : (n * 31) % DOCUMENTS
    const guid = guids[place]
    if (guid === undefined || n % 5 === 1) {
      if (guid !== undefined) await session.delete(name, guid)
      guids[place] = metaOf(await session.create(name, set(body))).guid
    } else if (n % 5 === 0) await session.setRemoved(name, guid, true)
    else await session.update(name, guid, set(body))
    if (n === 300) await expectReferenceOrder(session, name)
  }
  await session.transaction.commit()
}

export function rankingChapter(it: It): void {
  it('by relevance as the reference has it, after many changes, undone ones, and a restart', async (world) => {
    const { name } = world
    await world.database.ensure(name, { text: true })
    await rewrite(world)
    const session = world.database.session()
    for (let n = 0; n < 100; n++) await session.create(name, set({ note: `cat dog n${n}` }))
    await expectReferenceOrder(session, name)
    await session.transaction.rollback()
    await expectReferenceOrder(world.database.session(), name)
    await world.reopen()
    await expectReferenceOrder(world.database.session(), name)
  })

  it('by relevance, with an index of free text that was made later', async (world) => {
    await rewrite(world)
    await world.database.ensure(world.name, { text: true })
    await expectReferenceOrder(world.database.session(), world.name)
  })
}

/** Searches by relevance of every form, over few words, so that every document has some of them. */
const text = (value: string, fields: readonly string[] = []): Query => ({
  kind: 'simple_query_string',
  fields,
  text: value,
})
const and = (...queries: Query[]): Query => ({ kind: 'and', queries })

const word = fc.constantFrom('cat', 'cart', 'car', 'dog', 'doge', 'do', 'emu', 'élan', 'x1')
const words = fc.array(word, { maxLength: 9 }).map((all) => all.join(' '))

/** Of very different lengths: the average length is what counts. */
export const rankedBody: fc.Arbitrary<JsonObject> = fc.record({
  note: fc.oneof(
    words,
    words.map((few) => `${few} ${'filler '.repeat(40)}`),
  ),
  title: words,
  kind: fc.constantFrom('a', 'b'),
})

const isA: Query = { kind: 'term', field: 'kind', value: 'a' }

/** One of each form. */
const forms: readonly ((a: string, b: string) => Partial<Search>)[] = [
  (a, b) => ({ query: text(`${a} | ${b}`) }),
  (a, b) => ({ query: text(`${a} ${b}`) }),
  (a, b) => ({ query: text(`"${a} ${b}" | ${b}`) }),
  (a, b) => ({ query: text(`"${a} ${b}*" | ${a}`) }),
  (a, b) => ({ query: text(`"${a} ${a}" | "${b} filler"`) }),
  (a, b) => ({ query: text(`"${a} ${b}"~3`) }),
  (a, b) => ({ query: text(`${a}~1 | ${b}`) }),
  (a, b) => ({ query: text(`${a.slice(0, 2)}* | ${b}`) }),
  (a, b) => ({ query: text(`(${a} ${b}) | -filler`) }),
  (a, b) => ({ query: text(`${a} | ${b}`, ['title']) }),
  (a, b) => ({ query: and(text(`${a} | ${b}`), isA) }),
  (a, b) => ({ query: and(text(`${a} | ${b}`), { kind: 'filter', query: text('filler') }) }),
  (a, b) => ({ query: { kind: 'or', queries: [text(`${a} "${b} ${a}"`), isA] } }),
  (a, b) => ({ query: text(`${a} | ${b}`), includeRemoved: true }),
  (a, b) => ({ query: text(`"${a} ${b}" | ${a}`), includeRemoved: true }),
]

/** One search of each form. */
export const rankedSearches: fc.Arbitrary<readonly Search[]> = fc
  .tuple(word, word, fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 5 }))
  .map(([a, b, limit, offset]) => forms.map((form) => search({ ...form(a, b), limit, offset })))
