/**
 * Free text in SQL. A tsquery says words, phrases, prefixes, and, or, not over all text exactly; for the rest (named
 * fields, slop, misspellings) it narrows to a superset, and `decide-texts.ts` looks at those documents before.
 */
import { type CompiledSql, FALSE, sql, TRUE } from '../../search/compiled-sql.ts'
import { textQuery } from '../../search/match-text.ts'
import type { RankedPhrase, TextClause } from '../../search/rank-text.ts'
import type { TextQuery } from '../../search/simple-query-string.ts'
import { texts, value } from './compiled-sql.ts'
import type { SearchPlan } from './search-plan.ts'
import type { SearchTarget } from './search-target.ts'

/** A tsquery, or all documents, or none. Not exact: also finds documents that do not match. */
interface Match {
  readonly match: string | boolean
  readonly exact: boolean
}

const EVERYTHING: Match = { match: true, exact: false }

export function textCondition(plan: SearchPlan, clause: TextClause): CompiledSql {
  if (!isDecidedBefore(plan.target, clause)) return matchSql(matchOfClause(plan.target, clause))
  const found = plan.decided.get(clause)
  if (found === undefined) throw new TypeError('A free text was not decided before its SQL was made.')
  return sql`guid = ANY (${texts(found)})`
}

/** Whether SQL cannot decide it by itself. */
export function isDecidedBefore(target: SearchTarget, clause: TextClause): boolean {
  return !matchOfClause(target, clause).exact
}

/** True at least for all documents that match the text. */
export function narrowCondition(target: SearchTarget, clause: TextClause): CompiledSql {
  return matchSql(matchOfClause(target, clause))
}

/** The tsquery of what ranking counts. */
export function phraseMatch({ tokens, prefix }: RankedPhrase): string {
  return `${tokens.map(quoted).join(' <-> ')}${prefix ? ':*' : ''}`
}

function matchSql({ match }: Match): CompiledSql {
  if (typeof match === 'boolean') return match ? TRUE : FALSE
  return sql`tokens @@ ${value(match)}::tsquery`
}

function matchOfClause(target: SearchTarget, clause: TextClause): Match {
  const query = textQuery(clause.text)
  if (query.kind === 'none') return { match: false, exact: true }
  if (query.kind === 'all') return { match: true, exact: true }
  const allText = clause.fields.length === 0
  // A document's own _meta is not in the index, but a search may name a field of it.
  if (!target.textReady || clause.fields.some(isMeta)) return EVERYTHING
  const match = matchOf(query, allText)
  return allText ? match : { ...match, exact: false }
}

function isMeta(field: string): boolean {
  return field === '_meta' || field.startsWith('_meta.')
}

/** With `negations` what is behind a minus is part of it; named fields leave it out: the word may stand in another field. */
function matchOf(query: TextQuery, negations: boolean): Match {
  switch (query.kind) {
    case 'all':
      return { match: true, exact: true }
    case 'none':
      return { match: false, exact: true }
    case 'phrase':
      if (query.slop === 0) return { match: phraseMatch(query), exact: true }
      return { match: [...new Set(query.tokens)].map(quoted).join(' & '), exact: false }
    case 'fuzzy':
      return { match: `${quoted([...query.token][0] ?? '')}:*`, exact: false }
    case 'not': {
      const inner = negations ? matchOf(query.part, true) : EVERYTHING
      if (!inner.exact) return EVERYTHING
      return { match: typeof inner.match === 'boolean' ? !inner.match : `!(${inner.match})`, exact: true }
    }
    case 'and':
    case 'or':
      return combined(
        query.kind,
        query.parts.map((part) => matchOf(part, negations)),
      )
  }
}

function combined(kind: 'and' | 'or', parts: readonly Match[]): Match {
  const exact = parts.every((part) => part.exact)
  // What decides alone: nothing for `and`, everything for `or`.
  const decisive = parts.find((part) => part.match === (kind === 'or'))
  if (decisive) return { match: decisive.match, exact: exact || decisive.exact }
  const told = parts.map((part) => part.match).filter((match) => typeof match === 'string')
  if (told.length === 0) return { match: kind === 'and', exact }
  return { match: told.map((match) => `(${match})`).join(kind === 'and' ? ' & ' : ' | '), exact }
}

/** Tokens hold letters and digits only, so nothing in them ends the quotes. */
function quoted(token: string): string {
  return `'${token}'`
}
