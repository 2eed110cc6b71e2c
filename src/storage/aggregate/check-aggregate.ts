/** What an aggregate may be, for both engines. Its query is checked as that of a search. */

import { QuoinError } from '../../shared/errors.ts'
import { fieldNameProblem } from '../../shared/field-path.ts'
import { checkQuery } from '../search/check-search.ts'
import { type Aggregate, dateParts, figures, type Grouping, MOST_GROUPS } from './aggregate.ts'
import { zoneOffsets } from './date-part.ts'

export const MOST_GROUPINGS = 6
export const MOST_VALUES = 20
export const MOST_ORDERS = 8
const MOST_BOUNDS = 100

/** Throws INVALID_QUERY, saying what to change. */
export function checkAggregate(aggregate: Aggregate): void {
  const { query, groups, values, order, limit } = aggregate
  checkQuery(query)
  if (groups.length > MOST_GROUPINGS) throw invalid(`Group by at most ${MOST_GROUPINGS} values.`)
  if (values.length > MOST_VALUES) throw invalid(`Ask for at most ${MOST_VALUES} values.`)
  if (order.length > MOST_ORDERS) throw invalid(`Order by at most ${MOST_ORDERS} names.`)
  if (groups.length + values.length === 0) throw invalid('Give a group or a value.')
  if (!Number.isInteger(limit) || limit < 0 || limit > MOST_GROUPS)
    throw invalid(`limit must be a whole number from 0 to ${MOST_GROUPS}.`)
  for (const group of groups) checkGrouping(group)
  for (const { figure, field } of values) {
    if (!figures.includes(figure)) throw invalid(`There is no figure ${JSON.stringify(figure)}.`)
    if (field !== undefined) checkField(field)
    else if (figure !== 'count') throw invalid(`${figure} needs a field.`)
  }
  const names = namesOf(aggregate)
  const [twice] = names.filter((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw invalid(`The name ${JSON.stringify(twice)} is used twice.`)
  for (const { name } of order)
    if (!names.includes(name)) throw invalid(`There is no group and no value ${JSON.stringify(name)}.`)
}

/** Of the fields of a row, in order. */
export function namesOf({ groups, values }: Pick<Aggregate, 'groups' | 'values'>): string[] {
  return [...groups, ...values].map(({ as }) => as)
}

/** In words that finish "the bounds …". */
export function boundsProblem(bounds: readonly unknown[]): string | undefined {
  if (bounds.length === 0 || bounds.length > MOST_BOUNDS) return `must be 1 to ${MOST_BOUNDS} numbers`
  const isAscending = bounds.every((bound, at) => {
    const before = bounds[at - 1]
    return Number.isFinite(bound) && (at === 0 || Number(before) < Number(bound))
  })
  return isAscending ? undefined : 'must be numbers in ascending order'
}

export function isZone(zone: string): boolean {
  try {
    zoneOffsets(zone)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function checkGrouping({ field, part, zone = 'UTC', ranges }: Grouping): void {
  checkField(field)
  if (part !== undefined && ranges !== undefined)
    throw invalid(`Group ${field} by a part of a date or by ranges, not by both.`)
  if (part !== undefined && !dateParts.includes(part))
    throw invalid(`A part of a date is one of ${dateParts.join(', ')}.`)
  if (!isZone(zone)) throw invalid(`${JSON.stringify(zone.slice(0, 50))} is no time zone.`)
  const problem = ranges && boundsProblem(ranges)
  if (problem) throw invalid(`The bounds of the ranges of ${field} ${problem}.`)
}

function checkField(field: string): void {
  const problem = fieldNameProblem(field)
  if (problem) throw invalid(`The field name ${JSON.stringify(field)} ${problem}.`)
}

function invalid(message: string): QuoinError {
  return new QuoinError('INVALID_QUERY', message)
}
