import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RankedPhrase } from '../search/rank-text.ts'
import { parseSimpleQueryString } from '../search/simple-query-string.ts'
import { type ReadWords, wordOf } from './postings.ts'
import { leadingRows, type Scored, scoreAt, scoresOf, splitAt } from './scores.ts'
import { union } from './text-candidates.ts'

// The best hits of an "or" of words without a look at most documents, against those of all documents.

const DOCUMENTS = 30_000

interface Word {
  /** Of a thousand documents so many have it. */
  readonly share: number
  readonly counts: readonly number[]
}

/** Words of documents in disorder: which one has which word hangs on the number of both. */
function wordsOf(all: Readonly<Record<string, Word>>, lengths: readonly number[]) {
  const postings = new Map(
    Object.entries(all).map(([name, { share, counts }], which) => {
      const rows: number[] = []
      for (let row = 0; row < DOCUMENTS; row++) if (noise(row, which) % 1_000 < share) rows.push(row)
      const counted = rows.map((row) => counts[noise(row, which + 9) % counts.length] ?? 1)
      return [name, { rows: Int32Array.from(rows), counts: Uint16Array.from(counted) }]
    }),
  )
  return {
    documents: DOCUMENTS,
    average: 40,
    of: (phrase: RankedPhrase) =>
      postings.get(wordOf(phrase)) ?? { rows: new Int32Array(0), counts: new Uint16Array(0) },
    lengths: (rows: Int32Array) => rows.map((row) => lengths[noise(row, 77) % lengths.length] ?? 40),
    spend: () => undefined,
  } satisfies Partial<ReadWords>
}

function noise(row: number, which: number): number {
  let mixed = Math.imul(row + 1, 2_654_435_761) ^ Math.imul(which + 1, 40_503_001)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519)
  return (mixed ^ (mixed >>> 13)) >>> 0
}

/** Rows with their scores, best first, with all that are as good as the n-th. */
function best(scored: Scored, n: number): readonly (readonly [number, number])[] {
  const least = scoreAt(scored.scores, n)
  const { better, equal } = splitAt(scored, least)
  return [...better, ...Array.from(equal, (row) => [row, least] as const)].sort(
    ([a, left], [b, right]) => right - left || a - b,
  )
}

function everything(words: ReturnType<typeof wordsOf>, names: readonly string[]): Scored {
  const phrases = names.map((name) => ({ tokens: [name], prefix: false }))
  const rows = union(phrases.map((phrase) => words.of(phrase).rows))
  return { rows, scores: scoresOf(words, phrases, rows) }
}

const shares = fc.oneof(
  fc.integer({ min: 1, max: 30 }),
  fc.integer({ min: 30, max: 300 }),
  fc.integer({ min: 300, max: 950 }),
)
const wordlike = fc.record({
  share: shares,
  counts: fc.array(fc.constantFrom(1, 1, 1, 2, 3, 9, 200), { minLength: 1, maxLength: 12 }),
})
const lengthsOfAll = fc.array(fc.constantFrom(3, 20, 40, 90, 700), { minLength: 1, maxLength: 9 })

test('where not all are looked at, the best are those of all', () => {
  let ranked = 0
  let runs = 0
  const property = fc.property(
    fc.array(wordlike, { minLength: 2, maxLength: 4 }),
    lengthsOfAll,
    fc.integer({ min: 1, max: 120 }),
    fc.boolean(),
    (all, lengths, n, forgets) => {
      const names = all.map((_, at) => `w${at}`)
      const words = wordsOf(Object.fromEntries(all.map((word, at) => [`w${at}`, word])), lengths)
      const forget = ({ rows, scores }: Scored) => {
        if (forgets) for (const [at, row] of rows.entries()) if (row % 3 === 0) scores[at] = -1
      }
      runs += 1
      const leading = leadingRows(words, parseSimpleQueryString(names.join(' | ')), n, forget)
      if (leading === undefined) return
      ranked += 1
      const whole = everything(words, names)
      forget(whole)
      expect(leading.rows.length).toBeLessThan(whole.rows.length)
      expect(best(leading, n)).toEqual(best(whole, n))
    },
  )
  fc.assert(property, { numRuns: 150 })
  expect(ranked / runs).toBeGreaterThan(0.15)
  expect(ranked).toBeLessThan(runs)
})

const rare = { share: 5, counts: [1] }
const frequent = { share: 600, counts: [1, 2] }

test.each([
  ['two words', 'rare | frequent', true],
  ['some more', '(frequent | rare) | often | "rare"', true],
  ['one word', 'rare', false],
  ['words that are all wanted', 'rare frequent', false],
  ['one that must not be there', 'rare | -frequent', false],
  ['words near each other', 'rare | "often frequent"~3', false],
  ['a misspelled word', 'rare~1 | frequent', false],
  ['frequent words only', 'often | frequent', false],
  ['few documents', 'rare | also', false],
])('%s: %s', (_, text, isLed) => {
  const words = wordsOf({ rare, also: rare, frequent, often: { share: 550, counts: [3] } }, [40])
  expect(leadingRows(words, parseSimpleQueryString(text), 20) !== undefined).toBe(isLed)
})

test('where long documents have the rare word, short ones without it may be better', () => {
  const all = { rare: { share: 5, counts: [1] }, frequent: { share: 400, counts: [3] } }
  const some = wordsOf(all, [40])
  const rares = new Set(some.of({ tokens: ['rare'], prefix: false }).rows)
  const words = { ...some, lengths: (rows: Int32Array) => rows.map((row) => (rares.has(row) ? 2_000 : 3)) }
  const [[first] = []] = best(everything(words, ['rare', 'frequent']), 1)
  expect(rares.has(first ?? 0)).toBe(false)
  expect(leadingRows(words, parseSimpleQueryString('rare | frequent'), 20)).toBeUndefined()
})

test('more hits than the rare word has are looked for among all', () => {
  const words = wordsOf({ rare, frequent }, [40])
  const rareRows = words.of({ tokens: ['rare'], prefix: false }).rows.length
  const ask = (n: number) => leadingRows(words, parseSimpleQueryString('rare | frequent'), n) !== undefined
  expect([ask(0), ask(rareRows - 1), ask(rareRows), ask(rareRows + 1)]).toEqual([false, true, false, false])
})
