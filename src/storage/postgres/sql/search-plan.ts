/**
 * What a search's SQL is compiled with: its storage, and what was found out before.
 *
 * Where no document of the storage has an odd value at a field (an array, a long text), plain comparisons on the indexed
 * key are exact. Other nodes write too, so only the statement itself can know: it holds both forms, asks first (an index
 * lookup a field, nearly always in an empty index), and runs one. Fields without an index have only the exact form.
 */
import type { Query, Search } from '../../../shared/query.ts'
import { readIndexed, sortedField } from '../../document-index.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import type { TextClause } from '../../search/rank-text.ts'
import { allPlain, fieldSql } from './field-sql.ts'
import type { SearchTarget } from './search-target.ts'

export interface SearchPlan {
  readonly target: SearchTarget
  /** Fields, as indexes are over them, that are known to have no odd values where this SQL runs. */
  readonly plain: ReadonlySet<string>
  readonly decided: Decisions
  /** In place of a phrase all of its words, wherever they stand: more documents, of which the index alone knows. */
  readonly wordsOnly?: boolean
}

/** What was found out before the statement of the search, in the same state of the database. */
export interface Decisions {
  /** Guids of the documents that match, for the free texts that SQL cannot decide. */
  readonly guids: ReadonlyMap<TextClause, readonly string[]>
  readonly similar: SimilarWords
}

/** By misspelled word: the words of the documents that it may be. */
export type SimilarWords = ReadonlyMap<string, readonly string[]>

export const NO_WORDS: SimilarWords = new Map()

export const UNDECIDED: Decisions = { guids: new Map(), similar: NO_WORDS }

/** The fields of a search for which plain comparisons are worth asking for. */
export function askedFields(target: SearchTarget, query: Query, sort: Search['sort'] = []): string[] {
  const indexed = new Set([...target.indexes.values()].flatMap((index) => index.fields))
  const used = new Set([...comparedFields(query), ...sort.map(sortedField)])
  return [...used].filter((field) => indexed.has(field) && fieldSql(readIndexed(field).field).kind === 'json')
}

/** Whether plain comparisons of these fields are exact at this moment. */
export function question(target: SearchTarget, fields: readonly string[]): CompiledSql {
  const asked = new Set(fields.map((field) => readIndexed(field).field))
  return sql`${[...asked].map((field) => allPlain(target.table, field, target.columns)).join(' AND ')}`
}

/** Whether an index gives the documents in the order of the field, once the fields that must be equal are. */
export function isWalked(plan: SearchPlan, { query, includeRemoved }: Search, field: string): boolean {
  // The indexes hold present documents only.
  if (includeRemoved || !plan.plain.has(field)) return false
  const equal = new Set(equalFields(query))
  for (const { fields } of plan.target.indexes.values()) {
    const at = fields.findIndex((indexed) => !equal.has(indexed))
    if (fields[at] === field) return true
  }
  return false
}

function comparedFields(query: Query): string[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap(comparedFields)
    case 'not':
    case 'filter':
      return comparedFields(query.query)
    case 'term':
    case 'terms':
    case 'range':
      return [query.field]
    case 'folded':
      return [sortedField({ field: query.field, collation: query.folding.collation })]
    default:
      return []
  }
}

function equalFields(query: Query): string[] {
  if (query.kind === 'and') return query.queries.flatMap(equalFields)
  if (query.kind === 'filter') return equalFields(query.query)
  return query.kind === 'term' || (query.kind === 'terms' && query.values.length === 1) ? [query.field] : []
}

/** Bytes of a text that an index holds whole. */
const WHOLE = 300

/** The fields that are asked for nothing but being equal to short values, and whose items do not count. */
export function plainlyAsked(query: Query): ReadonlySet<string> {
  const asked = leavesOf(query)
  const plain = asked.filter(isPlainTerm).map(({ field }) => field)
  const others = new Set(asked.filter((leaf) => !isPlainTerm(leaf)).map(({ field }) => field))
  return new Set(plain.filter((field) => !others.has(field)))
}

type Leaf = Extract<Query, { readonly kind: 'term' | 'terms' | 'range' }>

function leavesOf(query: Query): Leaf[] {
  if (query.kind === 'and' || query.kind === 'or') return query.queries.flatMap(leavesOf)
  if (query.kind === 'not' || query.kind === 'filter') return leavesOf(query.query)
  return query.kind === 'term' || query.kind === 'terms' || query.kind === 'range' ? [query] : []
}

function isPlainTerm(leaf: Leaf): boolean {
  if (leaf.kind === 'range' || !leaf.scalar) return false
  const values = leaf.kind === 'term' ? [leaf.value] : leaf.values
  return values.every((value) => typeof value !== 'string' || Buffer.byteLength(value) <= WHOLE)
}
