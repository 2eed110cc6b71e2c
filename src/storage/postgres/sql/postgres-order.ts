/**
 * The order of a search in PostgreSQL, and where a cursor continues.
 *
 * PostgreSQL walks an index for ASC NULLS LAST and DESC NULLS FIRST only, and starts in the middle of one only for
 * `(key, created, guid) > (…)`, where nothing is NULL. So a search that an index can sort is two walks, one after the
 * other: documents that have the field, and documents that do not; each is one range of the index.
 */
import { QuoinError } from '../../../shared/errors.ts'
import type { Search, SortKey } from '../../../shared/query.ts'
import { sortedText } from '../../../shared/texts/text-order.ts'
import { sortedField } from '../../document-index.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../../search/compiled-sql.ts'
import {
  behindPlace,
  type CursorPlace,
  lastWay,
  type OrderStep,
  orderBy,
  sortKeys,
} from '../../search/search-cursor.ts'
import { fieldSql, fullKeyOf, keyOf, sortedSql, sortKey, value } from './field-sql.ts'
import { isWalked, type SearchPlan } from './search-plan.ts'

/** Some of the documents of a search, in its order. */
export interface Walk {
  /** Besides the search's own condition. */
  readonly where: CompiledSql
  readonly order: string
}

/** The walks that make a search, in their order. */
export function walksOf(plan: SearchPlan, search: Search, place: CursorPlace | undefined): Walk[] {
  const way = lastWay(search)
  const steps = sortKeys(search).map((key) => ({ key, read: readOf(plan, key) }))
  const [first, ...rest] = steps
  const natural = first?.key.order === 'desc' ? 'first' : 'last'
  if (
    !first ||
    !isWalked(plan, search, sortedField(first.key)) ||
    (place === undefined && first.key.missing === natural)
  )
    return [{ where: behind(steps, way, place), order: orderBy(steps, way) }]

  const at = place?.values[0] ?? null
  const further = place && { ...place, values: place.values.slice(1) }
  const order = orderBy([{ ...first, key: { ...first.key, missing: natural } }, ...rest], way)
  const walks: Walk[] = []
  if (place === undefined || at !== null || first.key.missing === 'first') {
    // Only the form with `first` can start in an index; there are no missing values here.
    const present: OrderStep = { ...first, key: { ...first.key, missing: 'first' } }
    const where = at === null ? TRUE : behind([present, ...rest], way, place, true)
    walks.push({ where: joinWith('AND', [sql`${first.read} IS NOT NULL`, where]), order })
  }
  if (place === undefined || at === null || first.key.missing === 'last') {
    const where = at === null ? behind(rest, way, further) : TRUE
    walks.push({ where: joinWith('AND', [sql`${first.read} IS NULL`, where]), order })
  }
  return first.key.missing === 'first' ? walks.toReversed() : walks
}

function readOf(plan: SearchPlan, key: SortKey): string {
  const read = fieldSql(key.field)
  if (read.kind !== 'json') return read.read
  const plain = plan.plain.has(sortedField(key))
    ? keyOf(key.field, plan.target.columns)
    : fullKeyOf(read.json)
  return sortedSql(plain, key.collation)
}

/** `present`: the first step is never NULL. */
function behind(
  steps: readonly OrderStep[],
  way: 'ASC' | 'DESC',
  place: CursorPlace | undefined,
  present = false,
): CompiledSql {
  if (place === undefined) return TRUE
  const [first] = steps
  const [at] = place.values
  const created = value(place.cms)
  const guid = value(place.guid)
  // Only where creation breaks ties in the direction of the field: `field desc, _meta.created asc` is no row comparison.
  const isOneWay = first?.key.order.toUpperCase() === way
  if (first && isOneWay && present && steps.length === 1 && typeof at !== 'object' && at !== undefined) {
    const bound = bindPlace(at, first)
    return sql`(${first.read}, created, guid) ${way === 'ASC' ? '>' : '<'} (${bound}, ${created}, ${guid})`
  }
  return behindPlace(steps, way, place, sql`(${created}, ${guid})`, bindPlace)
}

/** Throws INVALID_QUERY for a made-up place that the field can never have. */
function bindPlace(at: string | number, { key }: OrderStep): CompiledSql {
  const { kind } = fieldSql(key.field)
  if (kind === 'json')
    return value(sortKey(typeof at === 'string' && key.collation ? sortedText(at, key.collation) : at))
  if (kind === 'whole' ? !Number.isSafeInteger(at) : typeof at !== 'string')
    throw new QuoinError('INVALID_QUERY', 'The cursor is not one that this search gave. Start without it.', {
      fields: ['after'],
    })
  return value(at)
}
