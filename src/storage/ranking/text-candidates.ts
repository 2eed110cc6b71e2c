/** Which rows a free text may find, from the postings of its words: all that it finds, and sometimes more. */

import type { Query } from '../../shared/query.ts'
import { textQuery } from '../search/match-text.ts'
import { type RankedPhrase, rankedClauses, type TextClause } from '../search/rank-text.ts'
import { EffortSpent } from '../search/search-effort.ts'
import type { TextPhrase, TextQuery } from '../search/simple-query-string.ts'
import type { ReadWords } from './postings.ts'

type Rows = Int32Array
type LookedUpWords = Pick<ReadWords, 'of' | 'similarTo' | 'miss' | 'spend'>

/** Numbers in arrays that are walked over in the time of one unit of effort. */
const ROWS_A_UNIT = 20

interface Candidates {
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

// Whether the words of a search lead to all that it finds, and to which documents.

export interface TextPlan {
  readonly clauses: readonly TextClause[]
  /** What else must hold. */
  readonly others: readonly Query[]
}

/** Free-text clauses that must all hold, and other conditions; undefined for any other shape. */
export function textPlan(query: Query): TextPlan | undefined {
  if (query.kind === 'simple_query_string')
    return query.fields.some((field) => field === '_meta' || field.startsWith('_meta.'))
      ? undefined
      : { clauses: [query], others: [] }
  if (query.kind === 'and') {
    const plans = query.queries.map(textPlan)
    const known = plans.filter((plan) => plan !== undefined)
    if (known.length < plans.length) return undefined
    return {
      clauses: known.flatMap(({ clauses }) => clauses),
      others: known.flatMap(({ others }) => others),
    }
  }
  // Free text on one side of an "or" counts for the order too, and finds what the other side does not.
  if (query.kind === 'or' && rankedClauses(query).length > 0) return undefined
  return { clauses: [], others: [query] }
}

/** The text of a plan that has one, and not in named fields. */
export function onlyText({ clauses }: TextPlan): TextQuery | undefined {
  const [clause, ...others] = clauses
  return clause && others.length === 0 && clause.fields.length === 0 ? textQuery(clause.text) : undefined
}

/** The rows that all clauses lead to. undefined where the documents that are found may have none of the words. Throws EffortSpent. */
export function candidatesOfAll(
  words: Pick<ReadWords, 'of' | 'similarTo' | 'miss' | 'spend'>,
  clauses: readonly TextClause[],
): Candidates | undefined {
  const parsed = clauses.map(({ text }) => textQuery(text))
  const negations = clauses.every(({ fields }) => fields.length === 0)
  const whole = parsed.length === 1 ? parsed[0] : ({ kind: 'and', parts: parsed } as const)
  const found = whole && candidatesOf(words, whole, negations)
  return found && { ...found, exact: found.exact && negations }
}
