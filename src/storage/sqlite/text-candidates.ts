/** Which rows a free text may find, from the postings of its words: all that it finds, and sometimes more. */
import type { TextPhrase, TextQuery } from '../simple-query-string.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { TextPostings } from './text-postings.ts'

type Rows = Int32Array

/** Numbers in arrays that are walked over in the time of one unit of effort. */
const ROWS_A_UNIT = 10

export interface Candidates {
  readonly rows: Rows
  /** Whether each of them is found. */
  readonly exact: boolean
}

interface Ground {
  readonly connection: SqliteConnection
  readonly postings: TextPostings
}

/**
 * undefined where words alone do not lead to the rows: phrases in order, and whatever holds for documents without any of
 * the words. `negations`: whether what is behind a minus may be taken away; in named fields the word may stand elsewhere.
 */
export function candidatesOf(ground: Ground, query: TextQuery, negations: boolean): Candidates | undefined {
  switch (query.kind) {
    case 'phrase':
      return phraseCandidates(ground, query)
    case 'fuzzy': {
      const { connection, postings } = ground
      const words = postings.similarTo(connection, query.token, query.distance)
      return { rows: union([...words].map((token) => wordRows(ground, token, false))), exact: true }
    }
    case 'or': {
      const parts = query.parts.map((part) => candidatesOf(ground, part, negations))
      const known = parts.filter((part) => part !== undefined)
      if (known.length < parts.length) return undefined
      return { rows: union(known.map(({ rows }) => rows)), exact: known.every(({ exact }) => exact) }
    }
    case 'and':
      return conjunction(ground, query.parts, negations)
    default:
      return undefined
  }
}

function conjunction(
  ground: Ground,
  parts: readonly TextQuery[],
  negations: boolean,
): Candidates | undefined {
  let rows: Rows | undefined
  let exact = true
  for (const part of parts) {
    if (part.kind === 'not' || part.kind === 'all') continue
    const found = candidatesOf(ground, part, negations)
    if (found === undefined) return undefined
    rows = rows === undefined ? found.rows : intersection(rows, found.rows)
    exact &&= found.exact
  }
  for (const part of parts) {
    if (part.kind !== 'not' || rows === undefined) continue
    const unwanted = negations ? candidatesOf(ground, part.part, negations) : undefined
    if (unwanted?.exact) rows = difference(rows, unwanted.rows)
    else exact = false
  }
  return rows && { rows, exact }
}

function phraseCandidates(ground: Ground, { tokens, prefix, slop }: TextPhrase): Candidates | undefined {
  const [first = '', ...others] = tokens
  if (others.length === 0) return { rows: wordRows(ground, first, prefix), exact: true }
  if (slop === 0) return undefined
  const lists = [...new Set(tokens)].map((token) => wordRows(ground, token, false))
  return { rows: lists.reduce(intersection), exact: false }
}

function wordRows({ connection, postings }: Ground, token: string, prefix: boolean): Rows {
  const { rows } = postings.of(connection, { tokens: [token], prefix })
  connection.effort?.spend(rows.length / ROWS_A_UNIT)
  return rows
}

function union(lists: readonly Rows[]): Rows {
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
