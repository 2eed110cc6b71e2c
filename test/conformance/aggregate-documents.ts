/** The meaning of an aggregate in plain code: what both engines are compared with. */
import { parseFieldPath, valueAt } from '../../src/shared/field-path.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { add, decimalOf, ZERO } from '../../src/shared/numbers/decimal.ts'
import type { Aggregate, Grouping, Measure } from '../../src/storage/aggregate/aggregate.ts'
import { datePart, zoneOffsets } from '../../src/storage/aggregate/date-part.ts'
import {
  type Aggregated,
  type Cell,
  finishAggregate,
  type GroupKey,
  type RawGroup,
  rangeOf,
} from '../../src/storage/aggregate/finish-aggregate.ts'
import { compareScalars, isFound, sortValue } from '../../src/storage/search/evaluate-query.ts'

export function aggregatePlainly(documents: readonly JsonObject[], aggregate: Aggregate): Aggregated {
  return finishAggregate(aggregate, groupPlainly(documents, aggregate))
}

function groupPlainly(documents: readonly JsonObject[], aggregate: Aggregate): RawGroup[] {
  const found = documents.filter((document) => isFound(aggregate.query, false, document))
  const groups = new Map<string, { readonly keys: readonly GroupKey[]; readonly documents: JsonObject[] }>()
  if (aggregate.groups.length === 0) groups.set('[]', { keys: [], documents: [] })
  for (const document of found) {
    const keys = aggregate.groups.map((group) => keyOf(document, group))
    const key = JSON.stringify(keys)
    const group = groups.get(key) ?? { keys, documents: [] }
    groups.set(key, group)
    group.documents.push(document)
  }
  return [...groups.values()].map((group) => ({
    keys: group.keys,
    cells: aggregate.values.map((measure) => cellOf(group.documents, measure)),
  }))
}

function keyOf(document: JsonObject, { field, part, zone = 'UTC', ranges }: Grouping): GroupKey {
  const value = valueAt(document, parseFieldPath(field))
  if (part !== undefined) return datePart(value, part, zoneOffsets(zone))
  if (ranges) return typeof value === 'number' ? rangeOf(ranges, value) : null
  return scalarOf(value) ?? null
}

function cellOf(documents: readonly JsonObject[], { figure, field }: Measure): Cell {
  if (field === undefined) return documents.length
  const path = parseFieldPath(field)
  const values = documents.map((document) => valueAt(document, path))
  switch (figure) {
    case 'count':
      return values.filter((value) => value !== undefined && value !== null).length
    case 'distinct':
      return new Set(values.map(scalarOf).filter((value) => value !== undefined)).size
    case 'sum':
    case 'average': {
      const numbers = values.filter((value) => typeof value === 'number')
      const sum = numbers.reduce((so, number) => add(so, decimalOf(String(number))), ZERO)
      return { sum, numbers: numbers.length }
    }
    case 'min':
    case 'max': {
      const sorted = documents
        .map((document) => sortValue(document, path))
        .filter((value) => value !== undefined)
        .toSorted(compareScalars)
      return (figure === 'min' ? sorted[0] : sorted.at(-1)) ?? null
    }
  }
}

function scalarOf(value: JsonValue | undefined): string | number | boolean | undefined {
  if (value === null || typeof value === 'object') return undefined
  // JSON writes minus zero as 0.
  return typeof value === 'number' ? value + 0 : value
}
