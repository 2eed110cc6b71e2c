import { acceptedLanguages } from '../shared/texts/translations.ts'
import { pageLocales } from './messages.ts'

/**
 * The first language of an Accept-Language header that has messages, with its region (`de-AT`), which decides how dates
 * and numbers are written. English if there is none.
 */
export function pickLocale(acceptLanguage: string | undefined): string {
  for (const { language, region } of acceptedLanguages(acceptLanguage))
    if (pageLocales.includes(language)) return region ? `${language}-${region}` : language
  return 'en'
}

/** Which way a language is written. */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  return /^(?:ar|arc|ckb|dv|fa|ha-arab|he|ks|ku-arab|nqo|ps|sd|ug|ur|yi)(?:-|$)/i.test(locale) ? 'rtl' : 'ltr'
}
