/** After any writes, on any node, hits from words in memory are those that PostgreSQL ranks, in the same order, with the same total. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FullTextFixture, openFullTextFixture } from '../../../../test/postgres/full-text-fixture.ts'
import { setFields } from '../../../shared/mutation.ts'
import type { Query } from '../../../shared/query.ts'
import { transact } from '../../transact.ts'

let fixture: FullTextFixture
beforeAll(async () => {
  fixture = await openFullTextFixture()
})
afterAll(() => fixture?.close())

const someWord = fc.constantFrom('apple', 'pear', 'plum', 'applause', 'a', 'fig')
const someText = fc.array(someWord, { minLength: 0, maxLength: 12 }).map((words) => words.join(' '))
const someBody = fc.record({ title: someText, note: someText, n: fc.nat(3) })

/** What a person may type. */
const someTerm = fc.oneof(
  someWord,
  someWord.map((word) => `${word.slice(0, 2)}*`),
  fc.tuple(someWord, someWord).map((words) => `"${words.join(' ')}"`),
  fc.tuple(someWord, someWord).map(([word, other]) => `"${word} ${other.slice(0, 1)}"*`),
  someWord.map((word) => `-${word}`),
  fc.constant('"a a"'),
  fc.constant('nowhere'),
)
const someSearched = fc
  .tuple(fc.array(someTerm, { minLength: 1, maxLength: 3 }), fc.constantFrom(' ', ' | '))
  .map(([terms, between]) => terms.join(between))

const textIn = (text: string): Query => ({ kind: 'simple_query_string', fields: [], text })
const someQuery: fc.Arbitrary<Query> = fc.oneof(
  { weight: 3, arbitrary: someSearched.map(textIn) },
  fc.tuple(someSearched, fc.nat(3)).map(
    ([text, value]): Query => ({
      kind: 'and',
      queries: [textIn(text), { kind: 'term', field: 'n', value }],
    }),
  ),
  fc.tuple(someSearched, someSearched).map(
    ([text, other]): Query => ({
      kind: 'and',
      queries: [textIn(text), textIn(other)],
    }),
  ),
)
const someSearch = fc.record({ query: someQuery, limit: fc.integer({ min: 1, max: 8 }), offset: fc.nat(4) })

const someWrite = fc.record({
  kind: fc.constantFrom('create', 'create', 'update', 'update', 'remove', 'restore', 'delete'),
  at: fc.nat(1_000),
  node: fc.constantFrom<0 | 1>(0, 1),
  body: someBody,
})
type Write = typeof someWrite extends fc.Arbitrary<infer W> ? W : never

async function write(writes: readonly Write[], guids: string[]): Promise<void> {
  const [one] = writes
  if (one === undefined) return
  await transact(fixture.nodes[one.node], async (session) => {
    for (const { kind, at, body } of writes) {
      const guid = guids[at % Math.max(1, guids.length)] ?? 'none'
      if (kind === 'create') await session.create(fixture.name, setFields(body))
      else if (kind === 'update') await session.update(fixture.name, guid, setFields(body))
      else if (kind === 'delete') await session.delete(fixture.name, guid)
      else await session.setRemoved(fixture.name, guid, kind === 'remove')
    }
  })
  const { rows } = await fixture.admin.query(`SELECT guid FROM ${fixture.table} ORDER BY guid`)
  guids.splice(0, guids.length, ...rows.map(({ guid }) => String(guid)))
}

const cases = fc.record({
  bodies: fc.array(someBody, { minLength: 5, maxLength: 30 }),
  searches: fc.array(someSearch, { minLength: 1, maxLength: 3 }),
  writes: fc.array(fc.array(someWrite, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
})

test('after each transaction they are the same', async () => {
  const ways: boolean[] = []
  await fc.assert(
    fc.asyncProperty(cases, async ({ bodies, searches, writes }) => {
      const guids: string[] = []
      await fixture.admin.query(`DELETE FROM ${fixture.table}`)
      const { n, ...first } = { n: 0, ...bodies[0] }
      await write([{ kind: 'create', at: 0, node: 0, body: { title: '', note: '', ...first, n } }], guids)
      await write(
        bodies.map((body) => ({ kind: 'create', at: 0, node: 0, body })),
        guids,
      )
      const same = async (counts: boolean) => {
        for (const requested of searches) {
          const { found, page, inMemory } = await fixture.ranked(requested)
          if (counts) ways.push(inMemory)
          const direct = await fixture.direct(requested)
          expect([found, page], JSON.stringify(requested)).toEqual([direct, direct])
        }
      }
      await same(false)
      for (const list of writes) {
        await write(list, guids)
        await same(true)
      }
    }),
    { numRuns: 60 },
  )
  // Else it would show nothing. What is behind a minus alone leads to no words.
  expect(ways.filter(Boolean).length / ways.length).toBeGreaterThan(0.7)
  expect(fixture.reported).toEqual([])
})
