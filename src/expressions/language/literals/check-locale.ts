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
