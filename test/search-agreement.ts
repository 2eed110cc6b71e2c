/** The compiler of an engine against the reference: for random documents and searches the same documents, in the same order. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { JsonObject } from '../src/shared/json.ts'
import type { MaybePromise } from '../src/shared/maybe-promise.ts'
import type { Search } from '../src/shared/query.ts'
import { writeCursor } from '../src/storage/search/search-cursor.ts'
import { someSearch, storedDocuments } from './arbitrary-documents.ts'
import { searchDocuments } from './conformance/order-documents.ts'

/** An engine with one storage. */
export interface SearchWorld {
  /** Replaces all documents. */
  fill(documents: readonly JsonObject[]): MaybePromise<void>
  find(search: Search): MaybePromise<JsonObject[]>
  count(search: Search): MaybePromise<unknown>
}

/** A property to be asserted: up to 14 documents, up to 4 searches on them, with all their pages. */
export function agreement(world: SearchWorld, bodies: fc.Arbitrary<JsonObject>) {
  const searches = fc.array(someSearch, { minLength: 1, maxLength: 4 })
  return fc.asyncProperty(storedDocuments(bodies), searches, async (documents, requested) => {
    await world.fill(documents)
    for (const search of requested) await expectSame(world, documents, search)
  })
}

/** Everything that must agree, for one search; then the pages behind it, by cursor, to the end. */
export async function expectSame(
  world: SearchWorld,
  documents: readonly JsonObject[],
  search: Search,
): Promise<void> {
  const found = await world.find(search)
  expect(guids(found)).toEqual(guids(searchDocuments(documents, search)))
  expect(found).toEqual(
    searchDocuments(documents, search).map((document) => JSON.parse(JSON.stringify(document))),
  )
  const all = { ...search, limit: 10_000, offset: 0 }
  expect(await world.count(search)).toBe(searchDocuments(documents, all).length)
  await expectSamePages(world, documents, { ...all, limit: Math.max(1, search.limit) })
}

async function expectSamePages(
  world: SearchWorld,
  documents: readonly JsonObject[],
  search: Search,
): Promise<void> {
  const { after: _, ...first } = search
  const walked: JsonObject[] = []
  for (let page = first as Search; ; ) {
    const found = await world.find(page)
    walked.push(...found)
    const last = found.at(-1)
    const after = last && writeCursor(search, last)
    if (after === undefined) {
      if (last) return
      break
    }
    page = { ...first, after }
    expect(walked.length).toBeLessThanOrEqual(documents.length)
    expect(guids(searchDocuments(documents, page))).toEqual(guids(await world.find(page)))
  }
  expect(guids(walked)).toEqual(guids(searchDocuments(documents, { ...first, limit: 10_000 })))
}

function guids(documents: readonly JsonObject[]): string[] {
  return documents.map((document) => JSON.stringify(document._meta))
}
