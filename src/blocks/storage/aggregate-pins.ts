/** What builders write for the groups, values and order of an aggregate. */

import { fieldNameProblem } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import {
  type Aggregate,
  type DatePart,
  dateParts,
  type Figure,
  figures,
  type Grouping,
  type Measure,
  type RowOrder,
} from '../../storage/aggregate/aggregate.ts'
import {
  boundsProblem,
  isZone,
  MOST_GROUPINGS,
  MOST_ORDERS,
  MOST_VALUES,
  namesOf,
} from '../../storage/aggregate/check-aggregate.ts'
import { PinError, type RowColumn } from '../block.ts'
import { sortKeyOf } from '../pins/query-pins.ts'

export interface AggregatePins {
  readonly group: readonly JsonValue[] | undefined
  readonly values: readonly JsonValue[] | undefined
  readonly order: readonly JsonValue[] | undefined
}

/** What pins call each figure. */
const keyOfFigure: Readonly<Record<Figure, string>> = {
  count: 'count',
  distinct: 'count_distinct',
  sum: 'sum',
  average: 'average',
  min: 'min',
  max: 'max',
}
const FIGURES = Object.values(keyOfFigure).join(', ')

/** Throws PinError for each of the three. */
export function readAggregate(
  { group = [], values = [], order = [] }: AggregatePins,
  timeZone: string,
): Pick<Aggregate, 'groups' | 'values' | 'order'> {
  if (group.length > MOST_GROUPINGS) throw new PinError('group', `must hold at most ${MOST_GROUPINGS} items`)
  if (values.length > MOST_VALUES) throw new PinError('values', `must hold at most ${MOST_VALUES} items`)
  if (order.length > MOST_ORDERS) throw new PinError('order', `must hold at most ${MOST_ORDERS} items`)
  const read = {
    groups: group.map((item) => readGrouping(item, timeZone)),
    // Without anything to work out, the groups are counted.
    values: values.length === 0 ? [{ figure: 'count' as const, as: 'count' }] : values.map(readMeasure),
  }
  const names = namesOf(read)
  for (const [at, name] of names.entries())
    if (names.indexOf(name) < at)
      throw new PinError(
        at < read.groups.length ? 'group' : 'values',
        `has the name ${JSON.stringify(name)} twice: give one of them another name with as`,
      )
  return { ...read, order: order.map((item) => readOrder(item, names)) }
}

/** What each row holds. */
export function aggregateColumns(pins: AggregatePins): readonly RowColumn[] {
  const { groups, values } = readAggregate(pins, 'UTC')
  return [
    ...groups.map((group): RowColumn => {
      const isWhole = !('part' in group || 'ranges' in group)
      return { name: group.as, type: isWhole ? 'field' : 'any', field: group.field }
    }),
    ...values.map(({ as, figure, field }): RowColumn => {
      if (figure === 'count' || figure === 'distinct') return { name: as, type: 'whole' }
      const isOfField = field !== undefined && (figure === 'min' || figure === 'max')
      return isOfField ? { name: as, type: 'field', field } : { name: as, type: 'number' }
    }),
  ]
}

function readGrouping(item: JsonValue, timeZone: string): Grouping {
  if (typeof item === 'string') return { field: fieldOf('group', item), as: nameOf('group', undefined, item) }
  if (!isJsonObject(item))
    throw new PinError('group', 'must hold names of fields, or objects with field and part or ranges')
  known('group', item, ['field', 'part', 'zone', 'ranges', 'as'])
  const field = fieldOf('group', item.field)
  const { part, zone, ranges } = item
  if (part !== undefined && ranges !== undefined)
    throw new PinError('group', `has both part and ranges for ${field}: use one of them`)
  if (ranges !== undefined)
    return { field, as: nameOf('group', item.as, field), ranges: boundsOf(ranges, field) }
  if (zone !== undefined && part === undefined)
    throw new PinError('group', `has a zone for ${field} and no part: use one of ${dateParts.join(', ')}`)
  if (part === undefined) return { field, as: nameOf('group', item.as, field) }
  const found = partOf(part, field)
  return { field, as: nameOf('group', item.as, found), part: found, zone: zoneOf(zone ?? timeZone) }
}

function partOf(part: JsonValue, field: string): DatePart {
  const found = dateParts.find((one) => one === part)
  if (found === undefined)
    throw new PinError(
      'group',
      `has the part ${shown(part)} for ${field}: use one of ${dateParts.join(', ')}`,
    )
  return found
}

function zoneOf(zone: JsonValue): string {
  if (typeof zone === 'string' && isZone(zone)) return zone
  throw new PinError(
    'group',
    `has the time zone ${shown(zone)}, which does not exist: use a name such as Europe/Berlin`,
  )
}

function boundsOf(ranges: JsonValue, field: string): readonly number[] {
  const bounds = Array.isArray(ranges) ? ranges.filter((bound) => typeof bound === 'number') : []
  const problem =
    Array.isArray(ranges) && bounds.length === ranges.length
      ? boundsProblem(bounds)
      : 'must be a list of numbers'
  if (problem) throw new PinError('group', `has ranges for ${field} that cannot be used: they ${problem}`)
  return bounds
}

function readMeasure(item: JsonValue): Measure {
  const keys = isJsonObject(item) ? Object.keys(item).filter((key) => key !== 'as') : []
  const [key = ''] = keys
  const figure = figures.find((one) => keyOfFigure[one] === key)
  if (!isJsonObject(item) || keys.length !== 1 || figure === undefined)
    throw new PinError(
      'values',
      `must hold objects with one of ${FIGURES}, such as { "sum": "price", "as": "total" }`,
    )
  if (figure === 'count' && item[key] === '*') return { figure, as: nameOf('values', item.as, 'count') }
  const field = fieldOf('values', item[key])
  return { figure, field, as: nameOf('values', item.as, `${key}_${field}`) }
}

function readOrder(item: JsonValue, names: readonly string[]): RowOrder {
  const read = isJsonObject(item) ? orderIn(item) : sortKeyOf(item)
  if (read === undefined)
    throw new PinError(
      'order',
      'must hold names, such as "total desc", or objects, such as { "total": "desc" }',
    )
  const name = 'field' in read ? read.field : read.name
  if (!names.includes(name))
    throw new PinError(
      'order',
      `has ${JSON.stringify(name)}, which is no group and no value: use one of ${names.join(', ')}`,
    )
  return { name, order: read.order }
}

function orderIn(item: JsonObject): RowOrder | undefined {
  const [[name, order] = ['', ''], ...more] = Object.entries(item)
  return more.length === 0 && (order === 'asc' || order === 'desc') ? { name, order } : undefined
}

function fieldOf(pin: string, field: JsonValue | undefined): string {
  if (typeof field !== 'string')
    throw new PinError(pin, `has ${shown(field)} in place of the name of a field`)
  const problem = fieldNameProblem(field)
  if (problem) throw new PinError(pin, `has the field ${JSON.stringify(field)}, which ${problem}`)
  return field
}

/** A name that charts and expressions can read as one field. */
function nameOf(pin: string, name: JsonValue | undefined, otherwise: string): string {
  if (name === undefined) return otherwise.replaceAll('.', '_')
  if (typeof name === 'string' && !name.includes('.') && fieldNameProblem(name) === undefined) return name
  throw new PinError(pin, `has the name ${shown(name)}: as must be a name of a field without dots`)
}

function known(pin: string, item: JsonObject, keys: readonly string[]): void {
  const other = Object.keys(item).find((key) => !keys.includes(key))
  if (other !== undefined)
    throw new PinError(pin, `has ${JSON.stringify(other)}, which it does not know: use ${keys.join(', ')}`)
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 50)
}
