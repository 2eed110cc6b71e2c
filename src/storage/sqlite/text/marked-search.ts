/**
 * Searches whose order is not how well a free text fits, from words in memory: they say at once in which documents the text
 * stands, and the database does the rest. Of 100,000 documents: the first 50 in the order of an indexed field, of those with
 * a word that 60,000 have, and how many they are took 640 ms and take 5.
 *
 * Where many have the word, SQLite walks the order's index and looks into the marks (0.2 µs a document); where few have it,
 * it reads those and sorts them (6 µs each). How far it would have to walk follows from how many have the word.
 */
import type { Query, Search } from '../../../shared/query.ts'
import { candidatesOf } from '../../ranking/text-candidates.ts'
import { checkQuery } from '../../search/check-search.ts'
import { type CompiledSql, FALSE, sql } from '../../search/compiled-sql.ts'
import { textQuery } from '../../search/match-text.ts'
import type { TextClause } from '../../search/rank-text.ts'
import { numberOf, type Row, type SqliteConnection } from '../core/sqlite-connection.ts'
import { type SearchTarget, value } from '../sql/sql-values.ts'
import { compileCount, compileFind } from '../sql/sqlite-query.ts'
import { type FieldTexts, fieldTextsOf, PRESENT, type TextedTable } from './field-texts.ts'
import { readWords } from './ranked-words.ts'
import { both, textMarks } from './text-marks.ts'
import { postingsOf, type TextPostings } from './text-postings.ts'

/** A storage's table, and what of its words is in memory. */
export interface MarkedTable extends SearchTarget, TextedTable {
  postings?: TextPostings | undefined
}

/** Reading one and sorting it costs as much as walking past so many. */
const READ_PER_WALK = 24
const MOST_CLAUSES = 8

interface Marked {
  readonly texts: FieldTexts
  /** For each clause that words in memory decide. */
  readonly marks: ReadonlyMap<TextClause, Uint8Array>
  /** Those that a document must satisfy. */
  readonly required: ReadonlySet<TextClause>
  /** Whether there is nothing but clauses that must hold, all of them known. */
  readonly whole: boolean
}

/** One row, as of a compiled search that was checked. undefined where there is no free text, or it is not in memory (yet). */
export function markedFind(
  connection: SqliteConnection,
  entry: MarkedTable,
  search: Search,
  settled: boolean,
): Row | undefined {
  const found = marked(connection, entry, search.query, settled)
  if (found === undefined) return undefined
  const { offset, limit, includeRemoved } = search
  const target = markedTarget(entry, found, offset + limit, includeRemoved)
  const { sql: text, parameters } = compileFind(target, search)
  return connection.get(text, ...parameters) ?? {}
}

/** How many documents match; undefined as above. */
export function markedCount(
  connection: SqliteConnection,
  entry: MarkedTable,
  query: Query,
  includeRemoved: boolean,
  settled: boolean,
): number | undefined {
  checkQuery(query)
  const found = marked(connection, entry, query, settled)
  if (found === undefined) return undefined
  if (found.whole) return hits(found.texts, all(found.marks.values()), includeRemoved)
  const target = markedTarget(entry, found, Infinity, includeRemoved)
  const { sql: text, parameters } = compileCount(target, query, includeRemoved)
  return numberOf(connection.get(text, ...parameters) ?? {}, 'n')
}

function marked(
  connection: SqliteConnection,
  entry: MarkedTable,
  query: Query,
  settled: boolean,
): Marked | undefined {
  const clauses = clausesOf(query)
  if (clauses.length === 0 || clauses.length > MOST_CLAUSES) return undefined
  const texts = fieldTextsOf(
    connection,
    entry,
    [...new Set(clauses.flatMap(({ fields }) => fields))],
    settled,
  )
  if (texts === undefined) return undefined
  texts.settle(connection, settled)
  if (!entry.fieldTexts?.holds([])) return undefined
  const marks = new Map<TextClause, Uint8Array>()
  for (const clause of clauses) {
    const found = marksOf(connection, entry, texts, clause, settled)
    if (found) marks.set(clause, found)
  }
  if (marks.size === 0) return undefined
  const required = new Set(requiredClauses(query))
  return { texts, marks, required, whole: onlyClauses(query) && marks.size === clauses.length }
}

function marksOf(
  connection: SqliteConnection,
  entry: MarkedTable,
  texts: FieldTexts,
  { fields, text }: TextClause,
  settled: boolean,
): Uint8Array | undefined {
  const key = JSON.stringify([fields, text])
  const known = texts.answers.get(key)
  if (known) return known
  const query = textQuery(text)
  const marks =
    fields.length > 0
      ? textMarks(texts, fields, query, connection.effort)
      : wholeTextMarks(connection, entry, texts, query, settled)
  if (marks === undefined) return undefined
  texts.answers.set(key, marks)
  return marks
}

/** In all text of a document: from the postings that rank it. */
function wholeTextMarks(
  connection: SqliteConnection,
  entry: MarkedTable,
  texts: FieldTexts,
  query: ReturnType<typeof textQuery>,
  settled: boolean,
): Uint8Array | undefined {
  const postings = postingsOf(connection, entry, settled)
  if (postings === undefined) return undefined
  postings.settle(connection, settled)
  const candidates = candidatesOf(readWords(connection, postings), query, true)
  if (!candidates?.exact) return undefined
  const marks = new Uint8Array(texts.rows)
  for (const row of candidates.rows) marks[row] = 1
  return marks
}

/** `requested`: so many documents are read, from the first on. */
function markedTarget(
  entry: MarkedTable,
  found: Marked,
  requested: number,
  includeRemoved: boolean,
): SearchTarget {
  const { id, table, textTable, shape } = entry
  const { texts, marks, required } = found
  const ranked = [...required].filter((clause) => marks.has(clause))
  const together = all(ranked.map((clause) => marks.get(clause) ?? new Uint8Array(0)))
  const count = ranked.length > 0 ? hits(texts, together, includeRemoved) : texts.rows
  const isShort = ranked.length > 0 && isFew(count, texts.rows, requested)
  const conditionOf = (clause: TextClause): CompiledSql | undefined => {
    const own = marks.get(clause)
    if (own === undefined) return undefined
    if (count === 0 && required.has(clause)) return FALSE
    return isShort && clause === ranked[0] ? amongRows(together) : hasMark(own)
  }
  return { id, table, textTable, shape, marked: conditionOf }
}

function isFew(count: number, documents: number, requested: number): boolean {
  const walked = Math.min(documents, (requested * documents) / Math.max(1, count))
  return count * READ_PER_WALK < walked
}

/** The planner takes these for few, reads them by their numbers, and sorts. */
function amongRows(marks: Uint8Array): CompiledSql {
  const rows: number[] = []
  for (let row = 0; row < marks.length; row++) if (marks[row] === 1) rows.push(row)
  return sql`id IN (SELECT value FROM json_each(${value(JSON.stringify(rows))}))`
}

/** The planner cannot make use of it but for asking; the cast is made once, and no other form is as fast to look into. */
function hasMark(marks: Uint8Array): CompiledSql {
  const bytes = Buffer.from(marks.buffer, marks.byteOffset, marks.length).toString('latin1')
  // SQLite counts from 1, and there is no row 0.
  return sql`substr(CAST(${value(bytes)} AS BLOB), id + 1, 1) = x'01'`
}

/** Where all of them are. */
function all(lists: Iterable<Uint8Array>): Uint8Array {
  const [first = new Uint8Array(0), ...others] = lists
  return others.reduce(both, first.slice())
}

function hits(texts: FieldTexts, marks: Uint8Array, includeRemoved: boolean): number {
  const { states } = texts
  let count = 0
  for (let row = 0; row < marks.length; row++) {
    const state = states[row] ?? 0
    if (marks[row] === 1 && (state === PRESENT || (includeRemoved && state > PRESENT))) count += 1
  }
  return count
}

function clausesOf(query: Query): TextClause[] {
  switch (query.kind) {
    case 'simple_query_string':
      return [query]
    case 'and':
    case 'or':
      return query.queries.flatMap(clausesOf)
    case 'not':
    case 'filter':
      return clausesOf(query.query)
    default:
      return []
  }
}

function requiredClauses(query: Query): TextClause[] {
  if (query.kind === 'simple_query_string') return [query]
  if (query.kind === 'filter') return requiredClauses(query.query)
  return query.kind === 'and' ? query.queries.flatMap(requiredClauses) : []
}

/** Whether it says nothing but that texts must be found. */
function onlyClauses(query: Query): boolean {
  if (query.kind === 'simple_query_string' || query.kind === 'all') return true
  if (query.kind === 'filter') return onlyClauses(query.query)
  return query.kind === 'and' && query.queries.every(onlyClauses)
}
