import { areSameTexts, LONGEST_COMPOSED } from '../../shared/texts/composed-text.ts'

/** Values share parts, so that small ones may be endless when they are walked. */
const MOST_COMPARISONS = 500_000

/** Work of one value that is compared. */
export const comparisonWork = 1.2

/** Shorter texts cost no more than what names them. */
export const longText = 1_000
/** Work of a character of two texts that are compared. They may be the same to the end, and one of them of two bytes a character. */
const CHARACTER = 0.006

/** Work of a character of two texts that are composed before they are compared, in the worst case. */
const COMPOSED = 0.03

/** Work of comparing two texts that have so many characters in common at most. */
export function textWork(characters: number): number {
  return characters >= longText ? characters * CHARACTER : 0
}

/** Work of finding out whether two texts are equal. */
export function equalityWork(a: string, b: string): number {
  const composed = Math.max(a.length, b.length) <= LONGEST_COMPOSED ? (a.length + b.length) * COMPOSED : 0
  return (a.length === b.length ? textWork(a.length) : 0) + composed
}

/** Too much to compare: the caller says where. */
export class TooLargeToCompare extends Error {}

/** Takes from the budget of the run: one for each element or field, and for each list or object. */
type Spend = (values: number) => void

/** `==` of the language: the same type and deeply equal. A field that is null is as one that is missing. */
export function isSameValue(a: unknown, b: unknown, spend: Spend): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isSameScalar(a, b)
  return a === b || areSame(a, b, { left: MOST_COMPARISONS, spend })
}

/** The same for many pairs of values, whose comparisons are limited together. */
export function boundedComparison(spend: Spend): (a: unknown, b: unknown) => boolean {
  const work = { left: MOST_COMPARISONS, spend }
  return (a, b) => areSame(a, b, work)
}

/** Texts in any form of Unicode are the same. */
function isSameScalar(a: unknown, b: unknown): boolean {
  return (
    a === b ||
    (typeof a === 'string' && typeof b === 'string' ? areSameTexts(a, b) : isNothing(a) && isNothing(b))
  )
}

function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** A field is looked up by its name, which an element is not. */
const PER_FIELD = 3
/** Objects of many fields are hash tables, which are in no cache: 0.7 µs a field. */
const MANY_FIELDS = 1_000
const PER_FIELD_OF_MANY = 6

interface Work {
  left: number
  readonly spend: Spend
}

function take(work: Work, values: number): void {
  work.left -= values
  if (work.left < 0) throw new TooLargeToCompare()
  work.spend(values)
}

function areSame(a: unknown, b: unknown, work: Work): boolean {
  if (typeof a === 'string' && typeof b === 'string' && a.length >= longText)
    work.spend(Math.ceil(equalityWork(a, b) / comparisonWork))
  if (isSameScalar(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    take(work, 1 + a.length)
    return a.every((one, at) => areSame(one, b[at], work))
  }
  if (Array.isArray(b)) return false
  const fields = Math.max(Object.keys(a).length, Object.keys(b).length)
  take(work, 1 + (fields > MANY_FIELDS ? PER_FIELD_OF_MANY : PER_FIELD) * fields)
  const [left, right] = [
    new Map<string, unknown>(Object.entries(a)),
    new Map<string, unknown>(Object.entries(b)),
  ]
  for (const [key, value] of left) if (!areSame(value, right.get(key), work)) return false
  for (const [key, value] of right) if (!isNothing(value) && !left.has(key)) return false
  return true
}
