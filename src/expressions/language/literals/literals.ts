import { ArgumentError } from '../function-declaration.ts'

const LONGEST_LOCALE = 35

export function checkLocale(locale: string): void {
  try {
    if (locale.length <= LONGEST_LOCALE && new Intl.Locale(locale)) return
  } catch {
    // Told below.
  }
  const shown = JSON.stringify(locale.slice(0, LONGEST_LOCALE))
  throw new ArgumentError('locale', `must be a language tag such as en-US; got ${shown}`)
}

export function noZone(zone: string): ArgumentError {
  const shown = JSON.stringify(zone.slice(0, 50))
  return new ArgumentError('zone', `must be a time zone such as Europe/Berlin; got ${shown}`)
}

/** Without `Temporal`, which not every browser has. */
export function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw noZone(zone)
  }
}

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

const algorithms = ['sha256', 'sha384', 'sha512', 'sha1', 'md5']

/** As Node names it. */
export function hashName(algorithm: string): string {
  const name = algorithm.toLowerCase().replace('-', '')
  if (!algorithms.includes(name))
    throw new ArgumentError(
      'algorithm',
      `must be one of ${algorithms.join(', ')}; got ${JSON.stringify(algorithm.slice(0, 30))}`,
    )
  return name
}
