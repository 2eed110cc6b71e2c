/** What words in memory are bounded by: storages, and words of each. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FullTextFixture, openFullTextFixture } from '../../../../test/postgres/full-text-fixture.ts'
import { search } from '../../../shared/query.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { StoredJson } from '../../stored-json.ts'
import { PostingLists } from './posting-lists.ts'

let fixture: FullTextFixture
beforeAll(async () => {
  fixture = await openFullTextFixture()
})
afterAll(() => fixture?.close())

const apples = { query: { kind: 'simple_query_string', fields: [], text: 'apple' } } as const

/** A search of other storages, which have the same documents. */
async function searchOthers(ids: readonly number[]): Promise<void> {
  const none = { documents: new StoredJson('[]'), length: 0, next: () => undefined }
  for (const id of ids) {
    await fixture.words.find({ ...fixture.entry, id }, search(apples), async () => none)
    await fixture.words.idle()
  }
}

test('of five storages the one that was searched longest ago is read once more, and nothing follows it', async () => {
  await fixture.create({ title: 'apple' })
  const isInMemory = async () => (await fixture.ranked(apples)).inMemory
  expect([await isInMemory(), await isInMemory()]).toEqual([false, true])
  await searchOthers([1001, 1002, 1003])
  expect(await isInMemory()).toBe(true)
  await searchOthers([1004, 1001, 1002])
  expect(await isInMemory()).toBe(true)
  await searchOthers([1003, 1004, 1001, 1002])
  await fixture.words.follow()
  expect([await isInMemory(), await isInMemory()]).toEqual([false, true])
  expect(fixture.reported).toEqual([])
})

test('of 2,001 words of a storage the one that was searched longest ago makes room', () => {
  const memory = new PostingLists()
  const guid = '01890a5d-ac96-774b-bcce-b302099a8057'
  expect(memory.note([{ guid, created: 1, isRemoved: false, length: 3 }])).toBe(true)
  const phrase = (number: number): RankedPhrase => ({ tokens: [`word${number}`], prefix: false })
  for (let number = 0; number < 2_000; number++) {
    const rows = memory.expect(phrase(number))
    rows.add(guid, 1)
    rows.keep()
  }
  expect(memory.of(phrase(0))?.counts).toEqual(Uint16Array.of(1))
  memory.expect(phrase(2_000)).keep()
  expect([0, 1, 2, 2_000].map((number) => memory.has(phrase(number)))).toEqual([true, false, true, true])
})
