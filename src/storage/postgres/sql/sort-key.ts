/** The JavaScript twin of `quoin_full_key` (migrations/0002-search.sql): makes the keys of a search's own values. */
import type { Scalar } from '../../../shared/query.ts'

/** Keys of numbers are from 'n' on and before this; keys of texts are from 's' on. */
export const AFTER_NUMBERS = 'o'
export const FIRST_TEXT = 's'
/** Only in key columns: what is not plain, which is texts too long for an index, and then arrays and objects. */
export const FIRST_ODD = 't'
export const FIRST_LIST = 'u'
export const TRUE_KEY = 'nbff0000000000000'

const SIGN = 1n << 63n
const ALL = (1n << 64n) - 1n
const view = new DataView(new ArrayBuffer(8))

/** Booleans are the numbers 1 and 0: they sort so. Equality asks the type besides. */
export function sortKey(scalar: Scalar): string {
  return typeof scalar === 'string' ? `s${scalar}` : numberKey(Number(scalar))
}

/** The number of a key that begins with 'n'. */
export function numberOfKey(key: string): number {
  const bits = BigInt(`0x${key.slice(1)}`)
  view.setBigUint64(0, bits & SIGN ? bits ^ SIGN : bits ^ ALL)
  return view.getFloat64(0)
}

/** The bits of a double sort like the number once those of a negative one are turned round, and the sign of others. */
function numberKey(number: number): string {
  view.setFloat64(0, number + 0)
  const bits = view.getBigUint64(0)
  const sorted = bits & SIGN ? bits ^ ALL : bits | SIGN
  return `n${sorted.toString(16).padStart(16, '0')}`
}
