import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqliteWorld, type SqliteWorld } from '../../../../test/sqlite-world.ts'
import type { Postings } from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { TextPostings } from './text-postings.ts'

let world: SqliteWorld
beforeAll(async () => {
  world = await openSqliteWorld()
})
afterAll(() => world.close())

test('of 2,001 words the one that was searched longest ago makes room', async () => {
  const postings = new TextPostings('none', 'none')
  let read = 0
  const thread = {
    async places(): Promise<{ readonly kind: 'places' } & Postings> {
      read += 1
      return { kind: 'places', rows: Int32Array.of(1), counts: Uint16Array.of(1) }
    },
  }
  const phrase = (number: number): RankedPhrase => ({ tokens: [`word${number}`], prefix: false })
  const expectAll = async (numbers: readonly number[]) => {
    const before = read
    for (const number of numbers) await postings.expectPlaces(thread, phrase(number))
    return read - before
  }
  const first = Array.from({ length: 2_000 }, (_, number) => number)
  expect([await expectAll(first), await expectAll(first)]).toEqual([2_000, 0])
  postings.of(world.parts.writer.connection, phrase(0))
  expect(await expectAll([2_000, 0, 2, 2_000])).toBe(1)
  expect(await expectAll([1])).toBe(1)
})
