/**
 * Unique keys: fields of a storage whose values are unique together among its present documents.
 *
 * Each document has at most one value of a key: what the fields hold, folded as the key says, and hashed. A document in
 * which one of the fields is missing or null has none and never collides. The engines keep a table for each key, with a
 * row for each document that has a value and the value as primary key; a write of a document writes its rows in the same
 * transaction. Nothing is folded in a database, so both engines agree on what is the same.
 */
import { hash } from 'node:crypto'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Collation } from '../../shared/texts/collations.ts'
import { composedText } from '../../shared/texts/composed-text.ts'
import { foldedText as textFoldedAs } from '../../shared/texts/folded-text.ts'
import { normalizedText } from '../../shared/texts/normalized-text.ts'

// Which values count as the same.

interface Folding {
  readonly ignoreCase: boolean
  readonly ignoreAccents: boolean
  /** Of a field that says itself what its texts are the same by: as searches compare them. */
  readonly collation?: Collation
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what is looked for
const ASCII = /^[\x00-\x7f]*$/
/** Marks on letters of any script, but not the voicing marks of kana, which make another letter. */
const ACCENTS = /[[\p{Mn}&&\p{sc=Zinh}]--[\u3099\u309a]]/gv
/** All of these, and more: Greek and Cyrillic have none, and need not be taken apart and looked through, which takes 5 ms for a megabyte. */
const MAYBE_ACCENTS =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: units of UTF-16 are what is looked for
  /[\u0300-\u036f\u0483-\u0489\u0590-\u20ff\u2c00-\u2dff\u3000-\u30ff\ua600-\uabff\ufb1e\ufe00-\ufe2f\ud800-\ud83b\udb40]/

/**
 * Two values are the same if this is. Types differ: 1 is not "1". The order of an object's keys does not count. Texts that
 * only differ in how Unicode composes them are the same.
 */
function foldedValue(value: JsonValue, folding: Folding): JsonValue {
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
  const plain = ignoreAccents ? withoutAccents(normalizedText(text, 'NFD')) : normalizedText(text, 'NFC')
  // By way of upper case, because that is where ß becomes SS.
  const cased = ignoreCase ? plain.toUpperCase().toLowerCase() : plain
  return normalizedText(cased, 'NFC')
}

function withoutAccents(text: string): string {
  return MAYBE_ACCENTS.test(text) ? text.replace(ACCENTS, '') : text
}

export interface UniqueField extends Folding {
  /** Dotted, as in documents. */
  readonly name: string
}

export interface UniqueKey {
  /** Unique in its storage. */
  readonly name: string
  readonly fields: readonly UniqueField[]
}

/** 132 bits, as text. */
const LENGTH = 22

/** The document's value of the key; undefined when one of the fields is nothing. */
export function keyValue({ fields }: UniqueKey, document: JsonObject): string | undefined {
  const values: unknown[] = []
  for (const field of fields) {
    const value = valueAt(document, parseFieldPath(field.name))
    if (value === undefined || value === null) return undefined
    values.push(foldedValue(value, field))
  }
  return hash('sha256', JSON.stringify(values), 'base64url').slice(0, LENGTH)
}

export function fieldNames({ fields }: UniqueKey): readonly string[] {
  return fields.map(({ name }) => name)
}

/** Whether every document has the same value of both. */
export function isSameKey(a: UniqueKey, b: UniqueKey): boolean {
  return JSON.stringify(shapeOf(a)) === JSON.stringify(shapeOf(b))
}

function shapeOf({ name, fields }: UniqueKey): unknown {
  return [name, fields.map((field) => [field.name, field.ignoreCase, field.ignoreAccents, field.collation])]
}
