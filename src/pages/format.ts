/** Numbers and dates as a locale writes them. Formatters are dear to make (about 40 µs) and cheap to use, so they are kept. */

import type { JsonValue } from '../shared/json.ts'
import { type LruCache, lruCache } from '../shared/lru-cache.ts'

/** Of each kind: locales come from requests. */
const MOST = 500

const numbers = lruCache<string, Intl.NumberFormat>(MOST)
const dates = lruCache<string, Intl.DateTimeFormat>(MOST)
const relatives = lruCache<string, Intl.RelativeTimeFormat>(MOST)

function cachedIn<T>(map: LruCache<string, T>, key: string, make: () => T): T {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

/** As plain digits when the options make no sense, such as a currency that there is not. */
export function formatNumber(number: number, locale: string, options: Intl.NumberFormatOptions = {}): string {
  try {
    const key = `${locale} ${options.style} ${options.currency} ${options.maximumFractionDigits} ${options.notation} ${options.useGrouping}`
    return cachedIn(numbers, key, () => new Intl.NumberFormat(locale, options)).format(number)
  } catch {
    return String(number)
  }
}

export function formatDate(moment: Date, locale: string, timeZone: string): string {
  return cachedIn(
    dates,
    `${locale} date ${timeZone}`,
    () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }),
  ).format(moment)
}

/** In UTC it says so: that is seldom the time on the reader's clock. */
export function formatDateTime(moment: Date, locale: string, timeZone: string): string {
  const text = cachedIn(
    dates,
    `${locale} time ${timeZone}`,
    () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }),
  ).format(moment)
  return timeZone === 'UTC' ? `${text} UTC` : text
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** "3 days ago", "in 2 hours". */
export function formatRelative(moment: Date, now: number, locale: string): string {
  const seconds = (moment.getTime() - now) / 1000
  const format = cachedIn(relatives, locale, () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
  for (const [unit, length] of steps)
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit)
  return format.format(0, 'second')
}

/** A day without a time is the same day in every time zone. */
export function zoneOfValue(value: JsonValue, timeZone: string): string {
  return typeof value === 'string' && value.length === 10 ? 'UTC' : timeZone
}

/** Text in ISO form, Unix seconds, or milliseconds. */
export function readMoment(value: JsonValue): Date | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  if (typeof value === 'string' && !/^\d{4}-\d{2}-\d{2}/.test(value)) return undefined
  // Seconds until the year 5138, milliseconds from 1973 on.
  const date = new Date(typeof value === 'number' && Math.abs(value) < 1e11 ? value * 1000 : value)
  return Number.isNaN(date.getTime()) ? undefined : date
}
