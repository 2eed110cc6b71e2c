/** From the groups as an engine gives them to ordered rows: the part that engines share. */
import type { JsonValue } from '../../shared/json.ts'
import { average, type Decimal, nearestNumber } from '../../shared/numbers/decimal.ts'
import { compareScalars } from '../search/evaluate-query.ts'
import { StoredJson } from '../stored-json.ts'
import { type Aggregate, type Grouping, MOST_GROUPS } from './aggregate.ts'
import { datePartText } from './date-part.ts'

export interface Aggregated {
  /** A JSON array of objects. */
  readonly rows: StoredJson
  /** The number of groups. undefined: more than {@link MOST_GROUPS}; then there are no rows. */
  readonly total: number | undefined
}

/** A value of a field, the number of a part of a date, or the number of a range. */
export type GroupKey = string | number | boolean | null

/** What a measure is before it is rounded. */
export type Cell = string | number | null | ExactSum

export interface ExactSum {
  readonly sum: Decimal
  /** How many numbers were added. */
  readonly numbers: number
}

export interface RawGroup {
  readonly keys: readonly GroupKey[]
  /** In the order of the values. */
  readonly cells: readonly Cell[]
}

export const tooManyGroups: Aggregated = { rows: new StoredJson('[]'), total: undefined }

export function finishAggregate(aggregate: Aggregate, groups: readonly RawGroup[]): Aggregated {
  if (groups.length > MOST_GROUPS) return tooManyGroups
  const finished = groups.map(({ keys, cells }) => ({
    keys,
    values: cells.map((cell, at) => figureOf(cell, aggregate.values[at]?.figure === 'average')),
  }))
  const steps = orderSteps(aggregate)
  const rows = finished
    .toSorted((a, b) => {
      for (const { read, way } of steps) {
        const order = compareLastNull(read(a), read(b), way)
        if (order !== 0) return order
      }
      return 0
    })
    .slice(0, aggregate.limit)
  return {
    rows: new StoredJson(JSON.stringify(rows.map((row) => shown(aggregate, row)))),
    total: groups.length,
  }
}

interface Finished {
  readonly keys: readonly GroupKey[]
  readonly values: readonly (string | number | null)[]
}

interface OrderStep {
  readonly read: (row: Finished) => GroupKey
  readonly way: 1 | -1
}

function figureOf(cell: Cell, isAverage: boolean): string | number | null {
  if (cell === null || typeof cell !== 'object') return cell
  if (!isAverage) return nearestNumber(cell.sum)
  return cell.numbers === 0 ? null : average(cell.sum, cell.numbers)
}

function orderSteps({ groups, values, order }: Aggregate): OrderStep[] {
  const chosen = order.map(({ name, order: direction }): OrderStep => {
    const at = groups.findIndex(({ as }) => as === name)
    const value = values.findIndex(({ as }) => as === name)
    const way = direction === 'asc' ? 1 : -1
    return { read: at >= 0 ? ({ keys }) => keys[at] ?? null : (row) => row.values[value] ?? null, way }
  })
  return [...chosen, ...groups.map((_, at): OrderStep => ({ read: ({ keys }) => keys[at] ?? null, way: 1 }))]
}

function compareLastNull(a: GroupKey, b: GroupKey, way: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = compareScalars(comparable(a), comparable(b))
  // Booleans are 0 and 1 among the numbers; beside the same number they stand behind it.
  return way * (order !== 0 ? order : Number(typeof a === 'boolean') - Number(typeof b === 'boolean'))
}

function comparable(key: string | number | boolean): string | number {
  return typeof key === 'boolean' ? Number(key) : key
}

function shown({ groups, values }: Aggregate, row: Finished): JsonValue {
  return Object.fromEntries([
    ...groups.map((group, at) => [group.as, shownKey(group, row.keys[at] ?? null)]),
    ...values.map(({ as }, at) => [as, row.values[at] ?? null]),
  ])
}

function shownKey({ part, ranges }: Grouping, key: GroupKey): GroupKey {
  if (typeof key !== 'number') return key
  if (part !== undefined) return datePartText(key, part)
  return ranges ? rangeText(ranges, key) : key
}

// Ranges of numbers, numbered from 0: before the first bound, between two, from the last one on.

/** How many bounds the number reaches. */
export function rangeOf(bounds: readonly number[], number: number): number {
  return bounds.filter((bound) => number >= bound).length
}

/** `..10`, `10..20`, `20..`: from the first number on, and before the second. */
function rangeText(bounds: readonly number[], range: number): string {
  return `${bounds[range - 1] ?? ''}..${bounds[range] ?? ''}`
}
