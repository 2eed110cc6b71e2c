/** Which rows a free text may find, from the postings of its words: all that it finds, and sometimes more. */
import type { RankedPhrase } from '../search/rank-text.ts'
import { EffortSpent } from '../search/search-effort.ts'
import type { TextPhrase, TextQuery } from '../search/simple-query-string.ts'
import type { ReadWords } from './read-words.ts'

type Rows = Int32Array
type LookedUpWords = Pick<ReadWords, 'of' | 'similarTo' | 'miss' | 'spend'>

/** Numbers in arrays that are walked over in the time of one unit of effort. */
const ROWS_A_UNIT = 20

export interface Candidates {
  readonly rows: Rows
  /** Whether each of them is found. */
  readonly exact: boolean
}

/**
 * undefined where words alone do not lead to the rows: whatever holds for documents without any of the words. `negations`: whether what is behind a minus may be taken away; in named fields the word may stand elsewhere.
 */
export function candidatesOf(
  words: LookedUpWords,
  query: TextQuery,
  negations: boolean,
): Candidates | undefined {
  switch (query.kind) {
    case 'phrase':
      return phraseCandidates(words, query)
    case 'fuzzy':
      return { rows: similarRows(words, query.token, query.distance), exact: true }
    case 'or': {
      const parts = query.parts.map((part) => candidatesOf(words, part, negations))
      const known = parts.filter((part) => part !== undefined)
      if (known.length < parts.length) return undefined
      return { rows: union(known.map(({ rows }) => rows)), exact: known.every(({ exact }) => exact) }
    }
    case 'and':
      return conjunction(words, query.parts, negations)
    default:
      return undefined
  }
}

function similarRows(words: LookedUpWords, token: string, distance: number): Rows {
  const similar = words.similarTo(token, distance)
  try {
    return union([...similar].map((one) => phraseRows(words, { tokens: [one], prefix: false })))
  } catch (error) {
    // The search stops at the first word that is too much to read: without this, 40 words were in memory after 40 searches.
    if (error instanceof EffortSpent) words.miss(similar)
    throw error
  }
}

function conjunction(
  words: LookedUpWords,
  parts: readonly TextQuery[],
  negations: boolean,
): Candidates | undefined {
  let rows: Rows | undefined
  let exact = true
  for (const part of parts) {
    if (part.kind === 'not' || part.kind === 'all') continue
    const found = candidatesOf(words, part, negations)
    if (found === undefined) return undefined
    rows = rows === undefined ? found.rows : intersection(rows, found.rows)
    exact &&= found.exact
  }
  for (const part of parts) {
    if (part.kind !== 'not' || rows === undefined) continue
    const unwanted = negations ? candidatesOf(words, part.part, negations) : undefined
    if (unwanted?.exact) rows = difference(rows, unwanted.rows)
    else exact = false
  }
  return rows && { rows, exact }
}

function phraseCandidates(words: LookedUpWords, phrase: TextPhrase): Candidates {
  if (phrase.slop === 0) return { rows: phraseRows(words, phrase), exact: true }
  const tokens = [...new Set(phrase.tokens)]
  const lists = tokens.map((token) => phraseRows(words, { tokens: [token], prefix: false }))
  return { rows: lists.reduce(intersection), exact: false }
}

function phraseRows(words: LookedUpWords, phrase: RankedPhrase): Rows {
  const { rows } = words.of(phrase)
  words.spend(rows.length / ROWS_A_UNIT)
  return rows
}

export function union(lists: readonly Rows[]): Rows {
  const [only, ...others] = lists
  if (only === undefined) return new Int32Array(0)
  if (others.length === 0) return only
  const last = lists.reduce((most, list) => Math.max(most, list.at(-1) ?? 0), 0)
  const marks = new Uint8Array(last + 1)
  let size = 0
  for (const list of lists)
    for (const row of list) {
      size += 1 - (marks[row] ?? 0)
      marks[row] = 1
    }
  const all = new Int32Array(size)
  for (let row = 0, at = 0; at < size; row++) if (marks[row] === 1) all[at++] = row
  return all
}

function intersection(a: Rows, b: Rows): Rows {
  const both = new Int32Array(Math.min(a.length, b.length))
  let size = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i] ?? 0
    const right = b[j] ?? 0
    if (left === right) both[size++] = left
    if (left <= right) i++
    if (right <= left) j++
  }
  return both.subarray(0, size)
}

function difference(a: Rows, without: Rows): Rows {
  const left = new Int32Array(a.length)
  let size = 0
  let j = 0
  for (const row of a) {
    while (j < without.length && (without[j] ?? 0) < row) j++
    if (without[j] !== row) left[size++] = row
  }
  return left.subarray(0, size)
}
