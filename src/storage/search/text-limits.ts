/**
 * How much of what is slow one search may ask for. A misspelled word is compared with every word that starts with its
 * letter, and a phrase with gaps is looked for in every document that has its words; 128 of either took seconds.
 */
import type { Query } from '../../shared/query.ts'
import { textQuery } from './match-text.ts'
import type { TextQuery } from './simple-query-string.ts'

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
