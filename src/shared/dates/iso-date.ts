/**
 * Dates as text, ISO 8601: `2026-01-31`, `2026-01-31T09:00`, `2026-01-31T09:00:00.5+02:00`. Without a zone it is UTC, so
 * that two machines never disagree. JavaScript's own parser takes almost anything ("foo 1" is a day in 2001).
 */
const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:\d{2})?)?$/

/** Milliseconds since 1970, or undefined for text that is no such date, or a day that does not exist (30 February). */
export function readIsoDate(text: string): number | undefined {
  const match = DATE.exec(text)
  if (!match) return undefined
  const [, year, month, day, time = '00:00', zone = 'Z'] = match
  const midnight = new Date(`${year}-${month}-${day}T00:00Z`)
  if (midnight.getUTCDate() !== Number(day)) return undefined
  const instant = Date.parse(`${year}-${month}-${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(instant) ? undefined : instant
}

/** Whether the text looks like a date, even if it is not a valid one: `2026-02-30`, `2026-01-31T99:00`. */
export function hasIsoDateShape(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(?:[Tt ]|$)/.test(text)
}
