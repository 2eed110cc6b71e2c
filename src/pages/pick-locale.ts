import { pageLocales } from './messages.ts'

/**
 * The first language of an Accept-Language header that has messages, with its region (`de-AT`), which decides how dates
 * and numbers are written. English if there is none.
 */
export function pickLocale(acceptLanguage: string | undefined): string {
  const asked = (acceptLanguage ?? '')
    .slice(0, 500)
    .split(',')
    .map(readRange)
    .filter(({ weight }) => weight > 0)
    // Equal weights keep the order of the header: the sort is stable.
    .sort((a, b) => b.weight - a.weight)
  for (const { tag } of asked) {
    const locale = canonical(tag)
    if (locale && pageLocales.includes(locale.language))
      return locale.region ? `${locale.language}-${locale.region}` : locale.language
  }
  return 'en'
}

function readRange(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
  const quality = parameters.find((parameter) => /^q=/i.test(parameter))
  const weight = quality === undefined ? 1 : Number(quality.slice(2))
  return { tag, weight: Number.isFinite(weight) ? weight : 0 }
}

function canonical(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag)
  } catch {
    return undefined
  }
}

/** Which way a language is written. */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  return /^(?:ar|arc|ckb|dv|fa|ha-arab|he|ks|ku-arab|nqo|ps|sd|ug|ur|yi)(?:-|$)/i.test(locale) ? 'rtl' : 'ltr'
}
