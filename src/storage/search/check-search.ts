/**
 * What a search may be, for both engines: field names that can be said, values that a document could hold, and bounds
 * that keep its SQL small and its work finite. Blocks build searches from what visitors send, so all of it is checked.
 */
import { QuoinError } from '../../shared/errors.ts'
import { fieldNameProblem } from '../../shared/field-path.ts'
import { jsonProblem } from '../../shared/json.ts'
import type { Bounds, Query, Search } from '../../shared/query.ts'
import { textQuery } from './match-text.ts'
import type { TextQuery } from './simple-query-string.ts'

/** SQLite's parser gives up at an expression depth of 1,000, PostgreSQL's at its stack; both are far from this. */
const MAX_NESTING = 64
/** Queries inside queries, all counted. */
const MAX_QUERIES = 1_000
const MAX_TERMS = 10_000
const MAX_FIELDS = 100
const MAX_SORT_KEYS = 8
const MAX_PAGE = 10_000

/** Throws INVALID_QUERY, saying what to change. */
export function checkSearch(search: Search): void {
  checkQuery(search.query)
  checkPage('limit', search.limit)
  checkPage('offset', search.offset)
  if (search.sort.length > MAX_SORT_KEYS) throw invalid(`Sort by at most ${MAX_SORT_KEYS} fields.`)
  for (const key of search.sort) checkField(key.field)
}

/** Throws INVALID_QUERY, saying what to change. */
export function checkQuery(query: Query): void {
  const left = { queries: MAX_QUERIES, terms: MAX_TERMS }
  visit(query, 0, left)
  const problem = textProblem(textsOf(query))
  if (problem) throw invalid(`The free text ${problem}.`)
}

function visit(query: Query, depth: number, left: { queries: number; terms: number }): void {
  if (depth > MAX_NESTING) throw invalid(`The query is nested deeper than ${MAX_NESTING} levels.`)
  left.queries -= 1
  if (left.queries < 0)
    throw invalid(`The query has more than ${MAX_QUERIES} parts. Use terms for many values.`)
  switch (query.kind) {
    case 'all':
      break
    case 'and':
    case 'or':
      for (const inner of query.queries) visit(inner, depth + 1, left)
      break
    case 'not':
    case 'filter':
      visit(query.query, depth + 1, left)
      break
    case 'exists':
    case 'empty':
      checkField(query.field)
      break
    case 'fields':
      checkField(query.field)
      checkField(query.other)
      break
    case 'term':
    case 'contains':
    case 'caseless':
      checkField(query.field)
      checkValue(query.field, query.value)
      break
    case 'folded':
    case 'terms':
      checkField(query.field)
      left.terms -= query.values.length
      if (left.terms < 0) throw invalid(`The query has more than ${MAX_TERMS} terms.`)
      for (const value of query.values) checkValue(query.field, value)
      break
    case 'range':
      checkField(query.field)
      checkBounds(query.field, query.bounds)
      break
    case 'through':
      checkField(query.field)
      if (textsOf(query.query).length > 0)
        throw invalid(`Free text cannot be searched in what ${query.field} refers to.`)
      visit(query.query, depth + 1, left)
      break
    case 'simple_query_string':
      if (query.fields.length > MAX_FIELDS) throw invalid(`Search at most ${MAX_FIELDS} fields for a text.`)
      for (const field of query.fields) checkField(field)
      break
  }
}

function checkPage(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > MAX_PAGE)
    throw new QuoinError('INVALID_QUERY', `${name} must be a whole number from 0 to ${MAX_PAGE}.`, {
      fields: [name],
    })
}

function checkField(field: string): void {
  const problem = fieldNameProblem(field)
  if (problem) throw invalid(`The field name ${JSON.stringify(field)} ${problem}.`)
}

function checkValue(field: string, value: unknown): void {
  if (typeof value === 'object')
    throw invalid(`${field} can be compared with text, numbers and true or false only.`)
  const problem = jsonProblem(value)
  if (problem) throw invalid(`A value for ${field} ${problem}.`)
}

function checkBounds(field: string, bounds: Bounds): void {
  const input = [bounds.gte, bounds.gt, bounds.lte, bounds.lt].filter((bound) => bound !== undefined)
  if (input.length === 0) throw invalid(`The range of ${field} needs at least one of gte, gt, lte, lt.`)
  if (input.some((bound) => typeof bound !== 'string' && typeof bound !== 'number'))
    throw invalid(`The range of ${field} needs numbers or text as bounds.`)
  if (input.some((bound) => typeof bound !== typeof input[0]))
    throw invalid(`The bounds of ${field} must be all numbers or all text.`)
  for (const bound of input) checkValue(field, bound)
}

function invalid(message: string): QuoinError {
  return new QuoinError('INVALID_QUERY', message)
}

/**
 * How much of what is slow one search may ask for. A misspelled word is compared with every word that starts with its
 * letter, and a phrase with gaps is looked for in every document that has its words; 128 of either took seconds.
 */
const MOST_MISSPELLED = 8
const MOST_SLOPS = 8

type TextLeaf = Extract<TextQuery, { kind: 'phrase' | 'fuzzy' }>

export type MisspelledWord = Extract<TextQuery, { kind: 'fuzzy' }>

/** What finishes the sentence "<the text> …", or undefined. Of all free texts of one search together. */
export function textProblem(texts: readonly string[]): string | undefined {
  const leaves = texts.flatMap((text) => leavesOf(textQuery(text)))
  const misspelled = leaves.filter(({ kind }) => kind === 'fuzzy').length
  const slops = leaves.filter((leaf) => leaf.kind === 'phrase' && leaf.slop > 0).length
  if (misspelled > MOST_MISSPELLED)
    return `has ${misspelled} words with spelling mistakes allowed (word~); at most ${MOST_MISSPELLED} fit in one search`
  if (slops > MOST_SLOPS)
    return `has ${slops} phrases with gaps allowed ("two words"~3); at most ${MOST_SLOPS} fit in one search`
  return undefined
}

/** Words and phrases, wherever they stand in a text. */
export function leavesOf(query: TextQuery): TextLeaf[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.parts.flatMap(leavesOf)
    case 'not':
      return leavesOf(query.part)
    case 'phrase':
    case 'fuzzy':
      return [query]
    default:
      return []
  }
}

/** All free texts of a query, also those that only filter. */
export function textsOf(query: Query): string[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.queries.flatMap(textsOf)
    case 'not':
    case 'filter':
    case 'through':
      return textsOf(query.query)
    case 'simple_query_string':
      return [query.text]
    default:
      return []
  }
}
