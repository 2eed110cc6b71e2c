/**
 * Free text in SQL. A tsquery says words, phrases, prefixes, and, or, not over all text exactly, and misspelled words once the words are known that
 * they may be (`decide-texts.ts`). For the rest (named fields, slop) it narrows to a superset, and the same file looks at those documents before.
 */

import { leavesOf, type MisspelledWord } from '../../search/check-search.ts'
import { type CompiledSql, FALSE, sql, TRUE } from '../../search/compiled-sql.ts'
import { textQuery } from '../../search/match-text.ts'
import type { RankedPhrase, TextClause } from '../../search/rank-text.ts'
import type { TextQuery } from '../../search/simple-query-string.ts'
import { texts, value } from './field-sql.ts'
import type { SearchPlan, SimilarWords } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** A tsquery, or all documents, or none. Not exact: also finds documents that do not match. */
interface Match {
  readonly match: string | boolean
  readonly exact: boolean
}

const EVERYTHING: Match = { match: true, exact: false }

export function textCondition({ target, decided, wordsOnly }: SearchPlan, clause: TextClause): CompiledSql {
  const found = decided.guids.get(clause)
  if (found !== undefined) return sql`guid = ANY (${texts(found)})`
  const match = matchOfClause(target, clause, decided.similar, wordsOnly)
  if (wordsOnly) return matchSql(match)
  if (!match.exact) throw new TypeError('A free text was not decided before its SQL was made.')
  return matchSql(match)
}

/** Whether SQL cannot decide it by itself. */
export function isDecidedBefore(target: SearchTarget, clause: TextClause, similar: SimilarWords): boolean {
  return !matchOfClause(target, clause, similar).exact
}

/** True at least for all documents that match the text. */
export function narrowCondition(
  target: SearchTarget,
  clause: TextClause,
  similar: SimilarWords,
): CompiledSql {
  return matchSql(matchOfClause(target, clause, similar))
}

/** The misspelled words of a text that the index can answer once it is known what they may be. */
export function misspelledWords(target: SearchTarget, clause: TextClause): MisspelledWord[] {
  return isIndexed(target, clause)
    ? leavesOf(textQuery(clause.text)).filter((leaf) => leaf.kind === 'fuzzy')
    : []
}

/** True for documents with a word that begins as one of these. */
export function firstLetters(words: readonly MisspelledWord[]): CompiledSql {
  return matchSql(combined('or', words.map(sameLetter)))
}

/** Of {@link SimilarWords}. */
export function similarKey({ token, distance }: MisspelledWord): string {
  return `${token}~${distance}`
}

/** The tsquery of what ranking counts. */
export function phraseMatch({ tokens, prefix }: RankedPhrase): string {
  return `${tokens.map(quoted).join(' <-> ')}${prefix ? ':*' : ''}`
}

/** Its words, wherever they stand: of these documents the index knows without a look into them. */
export function wordsMatch({ tokens, prefix }: RankedPhrase): string {
  const words = tokens.map((token, at) => quoted(token) + (prefix && at === tokens.length - 1 ? ':*' : ''))
  return [...new Set(words)].join(' & ')
}

function matchSql({ match }: Pick<Match, 'match'>): CompiledSql {
  if (typeof match === 'boolean') return match ? TRUE : FALSE
  return sql`tokens @@ ${value(match)}::tsquery`
}

function matchOfClause(
  target: SearchTarget,
  clause: TextClause,
  similar: SimilarWords,
  wordsOnly = false,
): Match {
  const query = textQuery(clause.text)
  if (query.kind === 'none') return { match: false, exact: true }
  if (query.kind === 'all') return { match: true, exact: true }
  if (!isIndexed(target, clause)) return EVERYTHING
  const allText = clause.fields.length === 0
  const match = matchOf(query, { negations: allText, similar, wordsOnly })
  return allText ? match : { ...match, exact: false }
}

/** A document's own _meta is not in the index, but a search may name a field of it. */
function isIndexed(target: SearchTarget, clause: TextClause): boolean {
  return target.textReady && !clause.fields.some(isMeta)
}

function isMeta(field: string): boolean {
  return field === '_meta' || field.startsWith('_meta.')
}

interface Matching {
  /** What is behind a minus is part of it. Named fields leave it out: the word may stand in another field. */
  readonly negations: boolean
  readonly similar: SimilarWords
  /** As in {@link SearchPlan}. */
  readonly wordsOnly: boolean
}

function matchOf(query: TextQuery, how: Matching): Match {
  switch (query.kind) {
    case 'all':
      return { match: true, exact: true }
    case 'none':
      return { match: false, exact: true }
    case 'phrase':
      if (query.slop === 0)
        return { match: how.wordsOnly ? wordsMatch(query) : phraseMatch(query), exact: true }
      return { match: [...new Set(query.tokens)].map(quoted).join(' & '), exact: false }
    case 'fuzzy': {
      const words = how.similar.get(similarKey(query))
      return words ? { match: words.length > 0 && anyOf(words), exact: true } : sameLetter(query)
    }
    case 'not': {
      if (how.wordsOnly && leavesOf(query.part).some(isPhrase)) return EVERYTHING
      const inner = how.negations ? matchOf(query.part, how) : EVERYTHING
      if (!inner.exact) return EVERYTHING
      return { match: typeof inner.match === 'boolean' ? !inner.match : `!(${inner.match})`, exact: true }
    }
    case 'and':
    case 'or':
      return combined(
        query.kind,
        query.parts.map((part) => matchOf(part, how)),
      )
  }
}

function isPhrase(leaf: ReturnType<typeof leavesOf>[number]): boolean {
  return leaf.kind === 'phrase' && leaf.tokens.length > 1
}

function sameLetter({ token }: MisspelledWord): Match {
  return { match: `${quoted([...token][0] ?? '')}:*`, exact: false }
}

/**
 * By their first two letters, as PostgreSQL may look for each of them in each document: most documents have no word that begins so. 144 words
 * in 100,000 documents took 0.62 s, and take 0.17 s.
 */
function anyOf(words: readonly string[]): string {
  const groups = Map.groupBy(words, (word) => [...word].slice(0, 2).join(''))
  return eitherOf(
    [...groups].map(([begin, group]) => `(${quoted(begin)}:* & ${eitherOf(group.map(quoted))})`),
  )
}

/** As a balanced tree: PostgreSQL reads a chain one call deeper a word. */
function eitherOf(matches: readonly string[]): string {
  const [only = '', ...others] = matches
  if (others.length === 0) return only
  const middle = matches.length >> 1
  return `(${eitherOf(matches.slice(0, middle))} | ${eitherOf(matches.slice(middle))})`
}

function combined(kind: 'and' | 'or', parts: readonly Match[]): Match {
  const exact = parts.every((part) => part.exact)
  // What decides alone: nothing for `and`, everything for `or`.
  const decisive = parts.find((part) => part.match === (kind === 'or'))
  if (decisive) return { match: decisive.match, exact: exact || decisive.exact }
  const reported = parts.map((part) => part.match).filter((match) => typeof match === 'string')
  if (reported.length === 0) return { match: kind === 'and', exact }
  return { match: reported.map((match) => `(${match})`).join(kind === 'and' ? ' & ' : ' | '), exact }
}

/** Tokens hold letters and digits only, so nothing in them ends the quotes. */
function quoted(token: string): string {
  return `'${token}'`
}
