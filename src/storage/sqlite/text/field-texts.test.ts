/** The words in memory stay within their bounds, and dropped ones are read from the database again. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { set } from '../../../../test/conformance/expectations.ts'
import { openTestDatabase, type TestDatabase } from '../../../../test/test-database.ts'
import { type Query, search } from '../../../shared/query.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
  await fixture.database.ensure('notes', { text: true, indexes: [{ fields: ['n'] }] })
})
afterEach(() => fixture.close())

const inText: Query = {
  kind: 'filter',
  query: { kind: 'simple_query_string', fields: ['text'], text: 'cat' },
}
const byNumber = search({ query: inText, sort: [{ field: 'n', order: 'asc', missing: 'last' }] })

async function add(texts: readonly string[]): Promise<void> {
  const session = fixture.database.session()
  for (const [n, text] of texts.entries()) await session.create('notes', set({ n, text, other: 'cat' }))
  await session.transaction.commit()
}

async function found(): Promise<readonly [number, number]> {
  const session = fixture.database.session()
  return [(await session.find('notes', byNumber)).length, await session.count('notes', inText)]
}

test.each([
  ['few documents', ['cat', 'dog', 'cats cat'], 2],
  [
    'a text of 3,000 words, which is given up',
    ['cat', 'dog', 'word '.repeat(3_000), `${'word '.repeat(3_000)}cat`],
    2,
  ],
])('%s', async (_, texts, hits) => {
  await add(texts)
  for (let time = 0; time < 3; time++) expect(await found()).toEqual([hits, hits])
})

test('more writes between two searches than are put in place one by one', async () => {
  await add(['cat', 'dog'])
  expect(await found()).toEqual([1, 1])
  await add(Array.from({ length: 2_500 }, (_, n) => (n % 500 === 0 ? 'cat' : 'dog')))
  for (let time = 0; time < 4; time++) {
    expect(await found()).toEqual([6, 6])
    await new Promise((resolve) => setImmediate(resolve))
  }
})
