/**
 * Free text as tokens, the same for both engines, so that both find by the same words. An engine indexes the tokens
 * joined by spaces and must only cut at the spaces.
 *
 * A token is a run of letters, digits and marks, in lower case and without accents ("Café" and "CAFE\u0301" are `cafe`,
 * "Straße" is `strasse`). Scripts that are written without spaces give one token per character: a phrase of such tokens
 * then finds what a dictionary would. Tokens hold no space and no ASCII but a–z and 0–9.
 */

import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'

/** Stands between two values of a document, so that no phrase runs from one into the next. No text gives this token. */
export const VALUE_BREAK = '\ue000'

/** Text beyond this many tokens of one document cannot be found: about 300 KB of prose. */
const MAX_TOKENS = 50_000
/** Characters. Longer ones are hashes or encoded files, and are cut here and in queries alike. */
const MAX_TOKEN_LENGTH = 64

/** The tokens of a text, at most `limit`. */
export function textTokens(text: string, limit = MAX_TOKENS): string[] {
  const tokens: string[] = []
  addTokens(text, tokens, limit)
  return tokens
}

/** The tokens of all string values anywhere in a document but in its `_meta`, in document order. */
export function documentTokens(document: JsonObject): string[] {
  const tokens: string[] = []
  for (const key of Object.keys(document)) if (key !== '_meta') addValue(document[key], tokens)
  return tokens
}

/** The tokens of these values, as if they were all of a document. */
export function valueTokens(values: readonly (JsonValue | undefined)[]): string[] {
  const tokens: string[] = []
  for (const value of values) addValue(value, tokens)
  return tokens
}

/** What goes into an engine's index of free text. Empty for a document without text; it is indexed all the same. */
export function documentText(document: JsonObject): string {
  return documentTokens(document).join(' ')
}

function addValue(value: JsonValue | undefined, tokens: string[]): void {
  if (tokens.length >= MAX_TOKENS) return
  if (typeof value === 'string') addSeparated(value, tokens)
  else if (Array.isArray(value)) for (const item of value) addValue(item, tokens)
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) addValue(item, tokens)
}

function addSeparated(text: string, tokens: string[]): void {
  const start = tokens.length
  if (start > 0) tokens.push(VALUE_BREAK)
  addTokens(text, tokens, MAX_TOKENS)
  if (start > 0 && tokens.length === start + 1) tokens.pop()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for
const ASCII = /^[\x00-\x7f]*$/
const ASCII_TOKEN = /[a-z0-9]+/g
// First alternative: one character with its marks, of a script without spaces. Second: a word of any other script.
const TOKEN =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]\p{M}*|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]+/gv

/** Characters that are looked at together: in a longer text no further ones once there are enough tokens. */
const PART = 250_000
/** Characters that are no part of a token, and that no form of Unicode joins to what is before them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for
const BETWEEN = /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]/g

/**
 * Of a run without such a character no more is looked at than twice a part. It is one word, or has enough tokens; to match a word of 8 million
 * letters takes more than the stack.
 */
function addTokens(text: string, tokens: string[], limit: number): void {
  for (let at = 0; at < text.length && tokens.length < limit; ) {
    const end = betweenBehind(text, at + PART)
    addPart(text.slice(at, Math.min(end, at + 2 * PART)), tokens, limit)
    at = end
  }
}

function betweenBehind(text: string, from: number): number {
  if (from >= text.length) return text.length
  BETWEEN.lastIndex = from
  return BETWEEN.exec(text)?.index ?? text.length
}

function addPart(text: string, tokens: string[], limit: number): void {
  const ascii = ASCII.test(text)
  const folded = ascii ? text.toLowerCase() : fold(text)
  const pattern = ascii ? ASCII_TOKEN : TOKEN
  for (const match of folded.match(pattern) ?? []) {
    if (tokens.length >= limit) return
    tokens.push(match.length > MAX_TOKEN_LENGTH ? cut(match) : match)
  }
}

function cut(token: string): string {
  const short = token.slice(0, MAX_TOKEN_LENGTH)
  return short.isWellFormed() ? short : short.slice(0, -1)
}

// Accents and points, as far as they are not letters of their own script (Devanagari's vowel signs are), and invisible
// characters such as the soft hyphen. Not the voicing marks of kana (U+3099, U+309A: another letter) and not the
// zero-width space, which separates words.
const DROPPED =
  /[[[\p{Mn}&&\p{sc=Zinh}]--[\u3099\u309a]][[\p{Mn}&&\p{sc=Hebr}]][[\p{Mn}&&\p{sc=Arab}]][\p{Cf}--[\u200b]]]/gv

/** Letters that have no decomposition but that people type without their stroke, and the two forms of sigma. */
const PLAIN: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  æ: 'ae',
  œ: 'oe',
  ς: 'σ',
}
const HAS_PLAIN = /[øłđħæœς]/g

/** All of these, and more. */
const MAYBE_DROPPED =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: units of UTF-16 are what is looked for
  /[\u00ad\u0300-\u036f\u0483-\u0489\u0590-\u20ff\u2c00-\u2dff\u3000-\u30ff\ua600-\uabff\ufb1e\ufe00-\ufe2f\ufeff\ufff9-\ufffb\ud800-\ud83b\udb40]/

/** Case by way of upper case, because that is where ß becomes SS; composed at the end, so that Hangul stays syllables. */
function fold(text: string): string {
  const form = normalizedText(text, 'NFKD')
  const cased = (MAYBE_DROPPED.test(form) ? form.replace(DROPPED, '') : form).toUpperCase().toLowerCase()
  return normalizedText(
    cased.replace(HAS_PLAIN, (letter) => PLAIN[letter] ?? letter),
    'NFC',
  )
}
