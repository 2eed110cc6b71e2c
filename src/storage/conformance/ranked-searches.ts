/** Searches by relevance of every form, over few words, so that every document has some of them. */
import fc from 'fast-check'
import type { JsonObject } from '../../shared/json.ts'
import { type Query, type Search, search } from '../../shared/query.ts'

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
