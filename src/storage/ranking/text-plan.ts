/** Whether the words of a search lead to all that it finds, and to which documents. */
import type { Query } from '../../shared/query.ts'
import { textQuery } from '../search/match-text.ts'
import { rankedClauses, type TextClause } from '../search/rank-text.ts'
import type { TextQuery } from '../search/simple-query-string.ts'
import type { ReadWords } from './read-words.ts'
import { type Candidates, candidatesOf } from './text-candidates.ts'

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
