/** Which searches words in memory may lead to. */
import type { Query, Search } from '../../../shared/query.ts'
import { textPlan } from '../../ranking/text-plan.ts'
import { textQuery } from '../../search/match-text.ts'
import { otherStorages } from '../../search/other-storages.ts'
import { isRelevanceOrder, type TextClause } from '../../search/rank-text.ts'
import type { TextQuery } from '../../search/simple-query-string.ts'
import { openClauses } from '../sql/decide-texts.ts'
import type { SearchTarget } from '../sql/search-target.ts'

/** Of a page and all before it. */
export const MOST_HITS = 5_000

export function isServed(target: SearchTarget, search: Search): boolean {
  return (
    target.textReady &&
    !search.includeRemoved &&
    search.after === undefined &&
    search.limit + search.offset <= MOST_HITS &&
    isRelevanceOrder(search) &&
    otherStorages(search.query).length === 0 &&
    isTold(openClauses(target, search.query), search.query)
  )
}

/** Whether words tell what SQL cannot: of these clauses each must hold, and they have misspelled words and no more. */
function isTold(open: readonly TextClause[], query: Query): boolean {
  if (open.length === 0) return true
  const clauses = new Set(textPlan(query)?.clauses)
  return open.every(
    (clause) => clauses.has(clause) && clause.fields.length === 0 && isOfWords(textQuery(clause.text)),
  )
}

function isOfWords(query: TextQuery): boolean {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.parts.every(isOfWords)
    case 'not':
      return isOfWords(query.part)
    case 'phrase':
      return query.slop === 0
    default:
      return true
  }
}
