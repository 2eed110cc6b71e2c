/**
 * Texts without the difference of capital and small letters: ß is ss, ς and Σ are σ, ﬁ is fi, İ and ı are i. Character by character, so that
 * a part of a text stays a part of it. `0017-caseless-texts.sql` is the same for PostgreSQL, whose own depends on the locale of the server.
 */
import { composedText } from './composed-text.ts'
import { normalizedText } from './normalized-text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for
const ASCII = /^[\x00-\x7f]*$/

/** Of a stored text, which is composed. */
export function caselessText(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : Array.from(text, caselessCharacter).join('')
}

/** Of a text that is looked for, in any form of Unicode. */
export function soughtCaseless(text: string): string {
  return caselessText(composedText(text))
}

/** A few thousand at most differ from what they are. */
const known = new Map<string, string>()

function caselessCharacter(character: string): string {
  const before = known.get(character)
  if (before !== undefined) return before
  // Small letters first, because ẞ is a capital already, and capitals next, because that is where ß becomes SS.
  const small = character.toLowerCase().toUpperCase().toLowerCase().replace('ς', 'σ')
  if (small === character) return character
  const caseless = normalizedText(small, 'NFC').replace('i\u0307', 'i')
  known.set(character, caseless)
  return caseless
}
