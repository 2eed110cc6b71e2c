/** What Quoin itself says on pages. One file for each language in `messages/`, all with the same keys. */
import type { TemplateSettings } from '../shared/pages/page-template.ts'
import { acceptedLanguages, filledText } from '../shared/texts/translations.ts'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }

export type MessageKey = keyof typeof en

type Parameters = Readonly<Record<string, string | number>>

export interface PageMessages {
  /** The text, with `{name}` replaced by the parameter. Numbers are written as the language writes them. */
  (key: MessageKey, parameters?: Parameters): string
  /** `<key>.one` or `<key>.other`, as the language asks for this number, which is `{count}` in the text. */
  counted(key: CountedKey, count: number): string
}

/** Keys that there are once for one and once for more. */
export type CountedKey = MessageKey extends infer K ? (K extends `${infer Stem}.other` ? Stem : never) : never

const languages: Readonly<Record<string, Readonly<Record<MessageKey, string>>>> = { en, de }

/** The languages that have messages. */
export const pageLocales: readonly string[] = Object.keys(languages)

/** Of the pages of an account. Not of those that warn of what an agent or a program asks for. */
const OWN_WORDS =
  /^(?:signin|signout|signup|password|passkeys?|forgot|choose|code|setup|recovery|factor|email)\./

/** What keeps a template from saying this in place of a message, as a whole sentence. */
export function wordsProblem(language: string, key: string, text: string): string | undefined {
  const texts = Object.hasOwn(languages, language) ? languages[language] : undefined
  if (texts === undefined) return `There are words in ${pageLocales.join(' and ')}, and not in ${language}.`
  const [, message] = Object.entries(texts).find(([known]) => known === key) ?? []
  if (message === undefined || !OWN_WORDS.test(key)) return `A template cannot replace the words ${key}.`
  const missing = (message.match(/\{\w+\}/g) ?? []).find((name) => !text.includes(name))
  return missing && `The words ${key} must have ${missing} in ${language}.`
}

const made = new Map<string, PageMessages>()

/** Messages for a BCP 47 tag (`de-AT`); English when its language has none. */
export function messagesFor(locale: string): PageMessages {
  const known = made.get(locale)
  if (known) return known
  const messages = makeMessages(locale)
  // Tags come from requests: without a bound, a client could fill the memory with them.
  if (made.size < 200) made.set(locale, messages)
  return messages
}

/** The same with the words of a template in place of some. They were checked by {@link wordsProblem}. */
export function messagesOf({ words = {} }: Pick<TemplateSettings, 'words'>, locale: string): PageMessages {
  const [language = 'en'] = locale.split('-')
  const own = words[language]
  return own === undefined ? messagesFor(locale) : makeMessages(locale, own)
}

function makeMessages(locale: string, own: Readonly<Record<string, string>> = {}): PageMessages {
  const [language = 'en'] = locale.split('-')
  const texts = languages[language] ?? en
  const numbers = new Intl.NumberFormat(locale)
  const plural = new Intl.PluralRules(texts === en ? 'en' : locale)
  const say = (key: MessageKey, parameters: Parameters = {}): string =>
    filledText(own[key] ?? texts[key], parameters, numbers)
  const counted = (key: CountedKey, count: number): string =>
    say(plural.select(count) === 'one' ? `${key}.one` : `${key}.other`, { count })
  return Object.assign(say, { counted })
}

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
