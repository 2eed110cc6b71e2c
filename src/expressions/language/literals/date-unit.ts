import { ArgumentError } from '../function-declaration.ts'

export type DateUnit = keyof typeof units

/** By the name of one; most functions read better with several. */
const units = {
  year: 'years',
  month: 'months',
  week: 'weeks',
  day: 'days',
  hour: 'hours',
  minute: 'minutes',
  second: 'seconds',
  millisecond: 'milliseconds',
} as const

const sizes: Readonly<Partial<Record<DateUnit, number>>> = {
  hour: 24,
  minute: 24 * 60,
  second: 24 * 3600,
  millisecond: 24 * 3_600_000,
}

function isUnit(text: string): text is DateUnit {
  return Object.hasOwn(units, text)
}

/** `day` or `days`. */
export function readUnit(parameter: string, text: string): DateUnit {
  const name = text.endsWith('s') ? text.slice(0, -1) : text
  if (!isUnit(name))
    throw new ArgumentError(
      parameter,
      `must be one of ${Object.values(units).join(', ')}; got ${JSON.stringify(text.slice(0, 30))}`,
    )
  return name
}

/** As fields of a duration are named. */
export function unitPlural(unit: DateUnit): (typeof units)[DateUnit] {
  return units[unit]
}

/** How many of it a day has; undefined for a day and longer. */
export function unitsOfDay(unit: DateUnit): number | undefined {
  return sizes[unit]
}
