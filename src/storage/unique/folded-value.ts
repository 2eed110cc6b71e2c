/** Which values count as the same. */

import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { Collation } from '../../shared/texts/collations.ts'
import { composedText } from '../../shared/texts/composed-text.ts'
import { foldedText as textFoldedAs } from '../../shared/texts/folded-text.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'

export interface Folding {
  readonly ignoreCase: boolean
  readonly ignoreAccents: boolean
  /** Of a field that says itself what its texts are the same by: as searches compare them. */
  readonly collation?: Collation
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for
const ASCII = /^[\x00-\x7f]*$/
/** Marks on letters of any script, but not the voicing marks of kana, which make another letter. */
const ACCENTS = /[[\p{Mn}&&\p{sc=Zinh}]--[\u3099\u309a]]/gv

/**
 * Two values are the same if this is. Types differ: 1 is not "1". The order of an object's keys does not count. Texts that
 * only differ in how Unicode composes them are the same.
 */
export function foldedValue(value: JsonValue, folding: Folding): JsonValue {
  if (typeof value === 'string') return foldedText(value, folding)
  if (Array.isArray(value)) return value.map((item) => foldedValue(item, folding))
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value).sort()
  // As a list, because an object would put keys that look like numbers first.
  return [{}, ...keys.map((key) => [key, foldedValue(value[key] ?? null, folding)])]
}

function foldedText(text: string, { ignoreCase, ignoreAccents, collation }: Folding): string {
  if (collation !== undefined) return textFoldedAs(composedText(text), { collation, ignoreAccents })
  if (ASCII.test(text)) return ignoreCase ? text.toLowerCase() : text
  const plain = ignoreAccents ? normalizedText(text, 'NFD').replace(ACCENTS, '') : normalizedText(text, 'NFC')
  // By way of upper case, because that is where ß becomes SS.
  const cased = ignoreCase ? plain.toUpperCase().toLowerCase() : plain
  return normalizedText(cased, 'NFC')
}
