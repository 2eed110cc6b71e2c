import { type FieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Collation } from '../../shared/texts/collations.ts'
import { sortedText } from '../../shared/texts/text-order.ts'

/**
 * Order of strings by code point, which is also the order of their UTF-8 bytes and so both engines' order. JavaScript's
 * own `<` puts U+1F600 before U+FF5E, because it compares halves of surrogate pairs.
 */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left === right) continue
    // Half of a pair stands for a code point above U+FFFF, whatever the other side is.
    if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1
    return left - right
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}

/** What a document is sorted by at a field: undefined for what counts as missing; booleans are 0 and 1. */
export function sortValue(document: JsonObject, path: FieldPath): string | number | undefined {
  const value: JsonValue | undefined = valueAt(document, path)
  if (typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'boolean' ? Number(value) : undefined
}

/** Numbers before strings. */
export function compareScalars(a: string | number, b: string | number): number {
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : 1
  return typeof b === 'string' ? -1 : a - b
}

/** As a sort does it. */
export function compareSorted(
  a: string | number,
  b: string | number,
  collation: Collation | undefined,
): number {
  if (collation === undefined || typeof a !== 'string' || typeof b !== 'string') return compareScalars(a, b)
  return compareStrings(sortedText(a, collation), sortedText(b, collation))
}
