/** Groups of parts of the documents, put together to the groups of all: exact, since cells are exact. */

import { add, ZERO } from '../../shared/numbers/decimal.ts'
import { compareScalars } from '../search/compare-values.ts'
import type { Aggregate, Measure } from './aggregate.ts'
import type { Cell, RawGroup } from './finish-aggregate.ts'

/** Different values of several parts may be the same ones: their numbers cannot be added. */
export function canMerge({ values }: Pick<Aggregate, 'values'>): boolean {
  return values.every(({ figure }) => figure !== 'distinct')
}

/** For what `canMerge` says. */
export function mergeGroups(
  { groups, values }: Pick<Aggregate, 'groups' | 'values'>,
  parts: Iterable<readonly RawGroup[]>,
): RawGroup[] {
  const merged = new Map<string, RawGroup>()
  // Without groupings there is one row, also where there is no document.
  if (groups.length === 0) merged.set('[]', { keys: [], cells: values.map(emptyCell) })
  for (const part of parts)
    for (const group of part) {
      const key = JSON.stringify(group.keys)
      const known = merged.get(key)
      merged.set(key, known ? { keys: group.keys, cells: mergedCells(values, known, group) } : group)
    }
  return [...merged.values()]
}

function mergedCells(values: readonly Measure[], a: RawGroup, b: RawGroup): Cell[] {
  return values.map((measure, at) => mergedCell(measure, a.cells[at] ?? null, b.cells[at] ?? null))
}

function mergedCell({ figure }: Measure, a: Cell, b: Cell): Cell {
  // Of a minimum: no value in this part.
  if (a === null || b === null) return a ?? b
  if (typeof a === 'object' && typeof b === 'object')
    return { sum: add(a.sum, b.sum), numbers: a.numbers + b.numbers }
  if (typeof a === 'object' || typeof b === 'object')
    throw new TypeError('Cells of one value are of two kinds.')
  if (figure === 'count') return Number(a) + Number(b)
  const order = compareScalars(a, b)
  return figure === 'min' ? (order <= 0 ? a : b) : order >= 0 ? a : b
}

function emptyCell({ figure }: Measure): Cell {
  if (figure === 'count') return 0
  return figure === 'sum' || figure === 'average' ? { sum: ZERO, numbers: 0 } : null
}
