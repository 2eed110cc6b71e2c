/**
 * Ranges as builders and requests write them. The bound alone does not say what the documents hold: "5" may be asked of
 * numbers or of text, and a date may be stored as Unix seconds or as ISO text. A bound is therefore read in both ways
 * where both make sense, and the query holds for either.
 */

import { evaluateDateMath, isDateMath } from '../shared/dates/date-math.ts'
import { hasIsoDateShape, isDayText, readIsoDate } from '../shared/dates/dates.ts'
import type { JsonValue } from '../shared/json.ts'
import type { Bounds, Query } from '../shared/query.ts'
import { PinError } from './block.ts'
import { numberInText } from './pins/scalar-values.ts'

/** Milliseconds from the beginning of a day to its last one. */
const LAST_OF_DAY = 86_399_999

const boundNames = ['gte', 'gt', 'lte', 'lt'] as const
type BoundName = (typeof boundNames)[number]

/** What a bound means for documents that hold a number, and for those that hold text. */
interface Readings {
  readonly number: number | undefined
  readonly text: string | undefined
}

/**
 * The documents between the bounds that are given; undefined when none is. `now` in milliseconds. Throws PinError naming
 * the bound that cannot be read, or does not go with the others.
 */
export function rangeQuery(
  field: string,
  input: { readonly [name in BoundName]?: JsonValue | undefined },
  now: number,
): Query | undefined {
  const bounds = boundNames.flatMap((name) => {
    const value = input[name]
    if (value === undefined || value === null || value === '') return []
    return [{ name, ...readBound(name, value, field, now) }]
  })
  const last = bounds.at(-1)
  if (!last) return undefined
  const ranges = [
    boundsOf(bounds.map(({ name, number }) => [name, number])),
    boundsOf(bounds.map(({ name, text }) => [name, text])),
  ].flatMap((range): Query[] => (range ? [{ kind: 'range', field, bounds: range }] : []))
  const [first, second] = ranges
  if (!first)
    throw new PinError(last.name, 'has another type than the other bounds: one is a number, another is text')
  return second ? { kind: 'or', queries: ranges } : first
}

/** Undefined unless every bound can be read this way. */
function boundsOf(
  readings: readonly (readonly [BoundName, number | string | undefined])[],
): Bounds | undefined {
  return readings.some(([, reading]) => reading === undefined) ? undefined : Object.fromEntries(readings)
}

function readBound(name: BoundName, value: JsonValue, field: string, now: number): Readings {
  if (typeof value === 'number') return { number: value, text: undefined }
  if (typeof value !== 'string') throw new PinError(name, 'must be a number, a date or text')
  const trimmed = value.trim()
  if (isDateMath(trimmed)) {
    // "until /d" and "after /d" mean the end of the day, as in Elasticsearch.
    const result = evaluateDateMath(trimmed, now, name === 'lte' || name === 'gt' ? 'up' : 'down')
    if ('problem' in result) throw new PinError(name, result.problem)
    return instantReadings(name, result.milliseconds, field)
  }
  if (hasIsoDateShape(trimmed)) {
    const instant = readIsoDate(trimmed)
    if (instant === undefined) throw new PinError(name, 'looks like a date but is not a valid one')
    // A day is in the range as a whole.
    const isEnd = isDayText(trimmed) && (name === 'lte' || name === 'gt')
    return instantReadings(name, isEnd ? instant + LAST_OF_DAY : instant, field)
  }
  return { number: numberInText(trimmed), text: value }
}

function instantReadings(name: BoundName, instant: number, field: string): Readings {
  if (field === '_meta.cms' || field === '_meta.ums') return { number: instant, text: undefined }
  const seconds = instant / 1000
  // The other dates of `_meta` are Unix seconds, never text: one range is one index less to look into.
  return { number: seconds, text: field.startsWith('_meta.') ? undefined : instantText(name, instant) }
}

/**
 * The text to compare stored ISO text in UTC with. Dates are stored as `2026-01-31`, `2026-01-31T09:00:00Z` or with
 * milliseconds. A bound cut to what it says (a day, a second) stands before all spellings of its instant; one that ends
 * in Z stands behind all spellings within its second. So a bound on a whole second is right for all spellings, taking
 * the milliseconds of that second for the second itself, and so is one on a second's last millisecond, where rounded
 * date maths ends. Bounds in between are right for text with milliseconds.
 */
function instantText(name: BoundName, instant: number): string {
  const full = new Date(instant).toISOString()
  const second = full.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)
  const behind = name === 'lte' || name === 'gt'
  if (full.endsWith('.000Z')) return behind ? `${second}Z` : second.replace('T00:00:00', '')
  return behind && full.endsWith('.999Z') ? `${second}Z` : full
}
