import { boundedMap } from '../../shared/bounded-map.ts'
import type { FunctionContext } from '../language/function-declaration.ts'
import { checkLocale } from '../language/literals/check-locale.ts'
import { spendOnFormat } from './bounded.ts'

/** A format costs 20 to 100 µs to make. Some settings of some locales are in use at one time. */
const formats = boundedMap<string, Intl.DateTimeFormat>(200)

type NamedPart = 'month' | 'weekday' | 'dayPeriod' | 'timeZoneName'

/** The name that the locale has for one part of a date: of its month, weekday, half of the day or zone. */
export function dateName(
  context: FunctionContext,
  locale: string,
  part: NamedPart,
  milliseconds: number,
  options: Intl.DateTimeFormatOptions,
): string {
  const key = `${locale} ${JSON.stringify(options)}`
  let format = formats.get(key)
  if (format === undefined) {
    checkLocale(locale)
    spendOnFormat(context)
    format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
    formats.set(key, format)
  }
  return format.formatToParts(milliseconds).find(({ type }) => type === part)?.value ?? ''
}

const lengths = { 3: 'short', 4: 'long', 5: 'narrow' } as const

function lengthOf(width: number): 'short' | 'long' | 'narrow' {
  return width === 4 || width === 5 ? lengths[width] : 'short'
}

/** `isAlone`: as a title (LLLL); else as within a date (MMMM), which is another word in some languages. */
export function monthName(
  context: FunctionContext,
  locale: string,
  milliseconds: number,
  width: number,
  isAlone: boolean,
): string {
  const within = isAlone ? {} : { day: 'numeric' as const }
  return dateName(context, locale, 'month', milliseconds, { ...within, month: lengthOf(width) })
}

export function weekdayName(
  context: FunctionContext,
  locale: string,
  milliseconds: number,
  width: number,
): string {
  return dateName(context, locale, 'weekday', milliseconds, { weekday: lengthOf(width) })
}

export function halfOfDay(context: FunctionContext, locale: string, milliseconds: number): string {
  return dateName(context, locale, 'dayPeriod', milliseconds, { hour: 'numeric', hour12: true })
}
