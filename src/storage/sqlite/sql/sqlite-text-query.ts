/**
 * Free text in SQL. FTS5 decides by itself what it can say exactly (words, phrases, prefixes, misspellings, and, or, not,
 * over all text); for the rest (named fields, slop) it narrows to a superset, and the function `quoin_text_matches`
 * decides. Without an index that function reads every document.
 *
 * FTS5 knows no misspellings. A misspelled word stands for all words of the index that are close enough: the statement
 * looks them up and puts them into FTS5's query, so that what it finds is what is there when it runs.
 */
import { type CompiledSql, FALSE, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import { textQuery } from '../../search/match-text.ts'
import type { TextClause } from '../../search/rank-text.ts'
import type { TextQuery } from '../../search/simple-query-string.ts'
import { vocabularyTable } from '../core/tables.ts'
import { jsonPath } from './field-sql.ts'
import { type SearchTarget, value } from './sql-values.ts'

type Match =
  /** In FTS5's query language. Not exact: also finds documents that do not match. */
  { readonly match: string; readonly exact: boolean; readonly negated: boolean } | undefined

export function textCondition(target: SearchTarget, clause: TextClause): CompiledSql {
  const query = textQuery(clause.text)
  if (query.kind === 'none') return FALSE
  if (query.kind === 'all') return TRUE
  const marked = target.marked?.(clause)
  if (marked) return marked
  const allText = clause.fields.length === 0
  // A document's own _meta is not in the index, but a search may name a field of it.
  const indexed = target.textTable !== undefined && !clause.fields.some(isMeta)
  const found = indexed ? matchOf(query, allText) : undefined
  const narrow = found && sql`${narrowing(target, found.match, found.negated)}`
  if (narrow && found?.exact && allText) return narrow
  const source = allText
    ? 'doc'
    : `json_array(${clause.fields.map((field) => `doc -> ${jsonPath(field)}`).join(', ')})`
  const decide = sql`quoin_text_matches(${value(clause.text)}, ${source})`
  return narrow ? joinWith('AND', [narrow, decide]) : decide
}

function narrowing(target: SearchTarget, match: string, negated: boolean): CompiledSql {
  const table = target.textTable ?? ''
  return sql`id ${negated ? 'NOT IN' : 'IN'} (SELECT rowid FROM ${table} WHERE ${table} MATCH ${matchSql(table, match)})`
}

/** A misspelled word in a query for FTS5, to be replaced by words. Nothing that is quoted holds braces. */
const SIMILAR = /\{(\d+) ([^{}]+)\}/g
/** No text has such a token (see text-tokens.ts). */
const NO_WORD = '"\ue001"'

function matchSql(table: string, match: string): CompiledSql {
  let whole = value(match)
  for (const [found, distance, word = ''] of match.matchAll(SIMILAR)) {
    const words = similarWords(table, word, Number(distance))
    whole = sql`replace(${whole}, ${value(found)}, ${words})`
  }
  return whole
}

/** The first letter is right and the length about so: that leaves few words to be looked at. In code points, as SQLite's length. */
function similarWords(table: string, word: string, distance: number): CompiledSql {
  const [first = ''] = word
  const letters = [...word].length
  return sql`(SELECT ifnull(group_concat('"' || term || '"', ' OR '), '${NO_WORD}') FROM ${vocabularyTable(table)} WHERE term >= ${value(first)} AND term < ${value(`${first}\u{10ffff}`)} AND length(term) BETWEEN ${value(letters - distance)} AND ${value(letters + distance)} AND quoin_similar(${value(word)}, term, ${value(distance)}))`
}

function isMeta(field: string): boolean {
  return field === '_meta' || field.startsWith('_meta.')
}

/**
 * The query for FTS5, or undefined if it cannot narrow. With `negations` what is behind a minus is part of it; a search
 * in named fields has to leave it out, because the word may stand in another field.
 */
function matchOf(query: TextQuery, negations: boolean): Match {
  switch (query.kind) {
    case 'phrase':
      return { match: phraseMatch(query), exact: query.slop === 0, negated: false }
    case 'fuzzy':
      return { match: `({${query.distance} ${query.token}})`, exact: true, negated: false }
    case 'not': {
      const inner = negations ? matchOf(query.part, true) : undefined
      return inner?.exact ? { ...inner, negated: !inner.negated } : undefined
    }
    case 'or': {
      const parts = query.parts.map((part) => matchOf(part, negations))
      if (!parts.every((part) => part !== undefined && !part.negated)) return undefined
      return {
        match: parts.map((part) => `(${part?.match})`).join(' OR '),
        exact: parts.every((part) => part?.exact),
        negated: false,
      }
    }
    case 'and': {
      const parts = query.parts.map((part) => (part.kind === 'all' ? 'all' : matchOf(part, negations)))
      const known = parts.filter((part) => part !== undefined && part !== 'all')
      const exact = parts.every((part) => part === 'all' || part?.exact)
      const requested = known.filter((part) => !part.negated)
      const unwanted = known.filter((part) => part.negated)
      const without = unwanted.map((part) => `(${part.match})`).join(' OR ')
      // Only negative parts: the documents that none of them finds.
      if (requested.length === 0) return without === '' ? undefined : { match: without, exact, negated: true }
      const positive = requested.map((part) => `(${part.match})`).join(' AND ')
      return { match: without === '' ? positive : `(${positive}) NOT (${without})`, exact, negated: false }
    }
    default:
      return undefined
  }
}

/** In FTS5's query language. */
export function phraseMatch(phrase: Extract<TextQuery, { kind: 'phrase' }>): string {
  const { tokens, prefix, slop } = phrase
  if (slop > 0) return `NEAR(${[...new Set(tokens)].map(quoted).join(' ')}, ${tokens.length + slop})`
  return prefix ? `${quoted(tokens.join(' '))} *` : quoted(tokens.join(' '))
}

/** Tokens hold letters and digits only, so nothing in them ends the quotes. */
function quoted(text: string): string {
  return `"${text}"`
}
