/**
 * Texts in one form of Unicode (NFC): a Mac writes ü as u and a mark, a keyboard as one letter, and people see the same. Texts are stored
 * so, and compared so. A text without a character from U+0300 on is in this form already, which takes 1 ns a character to see.
 */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Bounds } from '../query.ts'
import { composedUnlessMany } from './normalized-text.ts'

const MAYBE_OTHER = /[\u0300-\uffff]/

/** Sorting more marks than any language has in a row takes the square of their number: such a text stays as it is. */
export function composedText(text: string): string {
  return MAYBE_OTHER.test(text) ? composedUnlessMany(text) : text
}

/** The same value if all of its texts are composed already. Names of fields stay as they are. */
export function composedValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return composedText(value)
  if (Array.isArray(value)) {
    // Without a list of its own until something changes: a megabyte holds 500,000 items.
    let items: JsonValue[] | undefined
    for (let at = 0; at < value.length; at++) {
      const item: JsonValue = value[at]
      const composed = typeof item === 'number' ? item : composedValue(item)
      if (composed === item) continue
      items ??= [...value]
      items[at] = composed
    }
    return items ?? value
  }
  if (!isJsonObject(value)) return value
  let changed: Record<string, JsonValue> | undefined
  for (const [key, item] of Object.entries(value)) {
    const composed = composedValue(item)
    if (composed === item) continue
    changed ??= { ...value }
    changed[key] = composed
  }
  return changed ?? value
}

/** What a search for a value asks for: the composed text, and the given one, which documents from before may hold. */
export function soughtValues<T extends string | number | boolean>(value: T): readonly (T | string)[] {
  if (typeof value !== 'string') return [value]
  const composed = composedText(value)
  return composed === value ? [value] : [composed, value]
}

/** The bounds of a range that texts are compared with: stored ones are composed. */
export function composedBounds(bounds: Bounds): Bounds {
  return Object.fromEntries(
    Object.entries(bounds).map(([name, bound]) => [
      name,
      typeof bound === 'string' ? composedText(bound) : bound,
    ]),
  )
}

/** Of longer texts only the same characters are equal: composing them takes up to 5 ns a character. */
export const LONGEST_COMPOSED = 10_000

/** Whether people see the same text. */
export function areSameTexts(a: string, b: string): boolean {
  if (a === b) return true
  if (a.length > LONGEST_COMPOSED || b.length > LONGEST_COMPOSED) return false
  if (!MAYBE_OTHER.test(a) && !MAYBE_OTHER.test(b)) return false
  return composedText(a) === composedText(b)
}
