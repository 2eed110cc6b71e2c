import { keepsDigits } from '../../shared/numbers/exact-json.ts'

/** The grammar of a JSON number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The number that text spells exactly as JSON would, else undefined: not for "007" or " 5", nor for whole numbers so
 * large that a double would round them to another one (long ids, card numbers).
 */
export function numberInText(text: string): number | undefined {
  if (!NUMBER.test(text) || !keepsDigits(text)) return undefined
  const number = Number(text)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}
