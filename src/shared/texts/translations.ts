/**
 * Texts in several languages, and which one a visitor reads: the first language that is asked for and has texts, else the fallback. A key
 * that has no text in it has that of the fallback. A text is written as the messages of pages are: `{name}` stands for a value, and
 * `<key>.one`, `<key>.other` and the other plural forms of a language are chosen by the value `count`.
 */
import type { JsonObject } from '../json.ts'

export interface Translations {
  /** The language of those that no text is written for. */
  readonly fallback: string
  /** Texts by key, by canonical tags such as `de` and `pt-BR`. */
  readonly languages: Readonly<Record<string, JsonObject>>
}

export interface ChosenLanguage {
  /** One that has texts. */
  readonly language: string
  /** With the region that was asked for, by which numbers are written. */
  readonly locale: string
}

/** Of an Accept-Language header, the most welcome one first. */
export function acceptedLanguages(header: string | undefined): readonly Intl.Locale[] {
  return (
    (header ?? '')
      .slice(0, 500)
      .split(',')
      .map(readRange)
      .filter(({ weight }) => weight > 0)
      // Equal weights keep the order of the header: the sort is stable.
      .sort((a, b) => b.weight - a.weight)
      .flatMap(({ tag }) => canonical(tag) ?? [])
  )
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

/** The tag as languages are compared by it; undefined for what is none. */
export function languageTag(text: string): string | undefined {
  return canonical(text)?.baseName
}

/**
 * The languages that a visitor reads, as a header: their own setting, else what the browser asks for. Users who have chosen none have
 * `en`; one who wants English in a browser of another language has `en-GB` or the like.
 */
export function askedLanguages(user: JsonObject | undefined, header: string | undefined): string | undefined {
  const language = user?.language
  const isChosen = typeof language === 'string' && language !== '' && language !== 'en'
  return isChosen ? `${language},${header ?? ''}` : header
}

export function chosenLanguage(
  { fallback, languages }: Translations,
  asked: string | undefined,
): ChosenLanguage {
  for (const { baseName, language, region } of acceptedLanguages(asked)) {
    const tags = [baseName, `${language}-${region}`, language]
    const found =
      tags.find((tag) => Object.hasOwn(languages, tag)) ??
      Object.keys(languages).find((tag) => tag.split('-')[0] === language)
    if (found === undefined) continue
    return { language: found, locale: region === undefined ? found : `${language}-${region}` }
  }
  return { language: fallback, locale: fallback }
}

/** undefined where no language that counts has the key. */
export function translatedText(
  { fallback, languages }: Translations,
  { language, locale }: ChosenLanguage,
  key: string,
  values: JsonObject = {},
): string | undefined {
  const { count } = values
  const [base = language] = language.split('-')
  for (const tag of [language, base, fallback]) {
    const texts = Object.hasOwn(languages, tag) ? languages[tag] : undefined
    if (!texts) continue
    // Numbers are written as the language of the text writes them.
    const formats = formatsOf(tag === fallback && tag !== language ? fallback : locale)
    const counted = typeof count === 'number' ? [`${key}.${formats.plurals.select(count)}`] : []
    for (const name of [...counted, key, `${key}.other`]) {
      const text = Object.hasOwn(texts, name) ? texts[name] : undefined
      if (typeof text === 'string') return filledText(text, values, formats.numbers)
    }
  }
  return undefined
}

/** The keys that a text of this key answers: a plural form also that which it is a form of. */
export function answeredKeys(key: string): readonly string[] {
  const stem = /^(.+)\.(?:zero|one|two|few|many|other)$/.exec(key)?.[1]
  return stem === undefined ? [key] : [key, stem]
}

/** `{name}` becomes the value, and stays where there is none. */
export function filledText(text: string, values: JsonObject, numbers: Pick<Intl.NumberFormat, 'format'>) {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (typeof value === 'number') return numbers.format(value)
    return typeof value === 'string' || typeof value === 'boolean' ? String(value) : whole
  })
}

interface Formats {
  readonly numbers: Intl.NumberFormat
  readonly plurals: Intl.PluralRules
}

const made = new Map<string, Formats>()

function formatsOf(locale: string): Formats {
  const known = made.get(locale)
  if (known) return known
  const formats = { numbers: new Intl.NumberFormat(locale), plurals: new Intl.PluralRules(locale) }
  // Tags come from requests: without a bound, a client could fill the memory with them.
  if (made.size < 200) made.set(locale, formats)
  return formats
}
