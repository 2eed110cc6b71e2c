import { afterAll, beforeAll, expect, test } from 'vitest'
import { set } from '../../../../test/conformance/expectations.ts'
import { openSqliteWorld, type SqliteWorld } from '../../../../test/sqlite-world.ts'
import type { Postings } from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { fieldTextsOf } from './field-texts.ts'
import { postingsOf, TextPostings } from './text-postings.ts'

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

test('words that are being read while their tables go are given up, and the next search begins again', async () => {
  const { database, parts } = world
  const { connection } = parts.writer
  await database.ensure('gone', { text: true })
  const session = database.session()
  for (let n = 0; n < 1_001; n++) await session.create('gone', set({ note: 'word' }))
  await session.transaction.commit()
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const entry = parts.catalogue.entry('gone')
  const other = { table: entry.table, textTable: entry.textTable, postings: undefined }
  for (const one of [entry, other]) expect(postingsOf(connection, one, true)).toBeUndefined()
  parts.catalogue.remove(entry)
  expect([entry.postings, entry.fieldTexts]).toEqual([undefined, undefined])
  expect(other.postings).toBeDefined()
  connection.exec(`DROP TABLE ${entry.textTable}`)
  await turn()
  expect(other.postings).toBeUndefined()

  const missing = { table: 'missing', touched: { alsoTell: () => undefined }, fieldTexts: undefined }
  expect(() => fieldTextsOf(connection, missing, ['note'], true)).toThrow('no such table')
  await turn()
  expect(missing.fieldTexts).toBeUndefined()
})
