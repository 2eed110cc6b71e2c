/**
 * The order of a search in SQL, and the condition for what lies behind a cursor in that order: the part that both
 * engines share. An engine says how a field is read and how a place's value is bound.
 *
 * Ties follow the direction of the last sort key, so an index over (fields…, created, guid) is walked in one direction
 * and nothing is sorted.
 */
import type { Search, SortKey } from '../../shared/query.ts'
import { type CompiledSql, sql } from './compiled-sql.ts'
import type { CursorPlace } from './search-cursor.ts'

export interface OrderStep {
  readonly key: SortKey
  /** Gives what sorts as the reference does, and NULL for what counts as missing. */
  readonly read: string
}

/** A value of a cursor's place, as the statement compares it with `read`. */
export type BindPlace = (at: string | number, step: OrderStep) => CompiledSql

/** The keys that decide anything. Creation last is what breaks ties anyway, in the same direction and in more detail. */
export function sortKeys(search: Search): readonly SortKey[] {
  const last = search.sort.at(-1)
  return last && ['_meta.created', '_meta.cms'].includes(last.field) ? search.sort.slice(0, -1) : search.sort
}

export function lastWay(search: Search): 'ASC' | 'DESC' {
  return search.sort.at(-1)?.order === 'asc' ? 'ASC' : 'DESC'
}

export function orderBy(steps: readonly OrderStep[], way: 'ASC' | 'DESC'): string {
  return [
    ...steps.map(({ read, key }) => `${read} ${key.order.toUpperCase()} NULLS ${key.missing.toUpperCase()}`),
    `created ${way}`,
    `guid ${way}`,
  ].join(', ')
}

/** True for the documents behind the place. `tied`: its creation and guid, bound as a row. */
export function behindPlace(
  steps: readonly OrderStep[],
  way: 'ASC' | 'DESC',
  place: CursorPlace,
  tied: CompiledSql,
  bind: BindPlace,
): CompiledSql {
  let behind = sql`(created, guid) ${way === 'ASC' ? '>' : '<'} ${tied}`
  for (const [index, step] of [...steps.entries()].toReversed()) {
    const at = place.values[index] ?? null
    behind = at === null ? behindMissing(step, behind) : behindValue(step, bind(at, step), behind)
  }
  return behind
}

function behindMissing({ read, key }: OrderStep, tied: CompiledSql): CompiledSql {
  const tie = sql`(${read} IS NULL AND ${tied})`
  return key.missing === 'first' ? sql`(${read} IS NOT NULL OR ${tie})` : tie
}

function behindValue({ read, key }: OrderStep, at: CompiledSql, tied: CompiledSql): CompiledSql {
  const comparison = key.order === 'asc' ? '>' : '<'
  const further = sql`${read} ${comparison} ${at}`
  const tie = sql`(${read} = ${at} AND ${tied})`
  if (key.missing === 'last') return sql`(${further} OR ${tie} OR ${read} IS NULL)`
  // The first part follows from the rest; it is the one that an index can start from.
  return sql`(${read} ${comparison}= ${at} AND (${further} OR ${tie}))`
}
