/** Values share parts, so that small ones may be endless when they are walked. */
const MOST_COMPARISONS = 200_000

/** Too much to compare: the caller says where. */
export class TooLargeToCompare extends Error {}

/** `==` of the language: the same type and deeply equal. A field that is null is as one that is missing. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return a === b || (isNothing(a) && isNothing(b))
  return a === b || areSame(a, b, { left: MOST_COMPARISONS })
}

/** The same for many pairs of values, whose comparisons are limited together. */
export function boundedComparison(): (a: unknown, b: unknown) => boolean {
  const work = { left: MOST_COMPARISONS }
  return (a, b) => areSame(a, b, work)
}

function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

interface Work {
  left: number
}

function areSame(a: unknown, b: unknown, work: Work): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (--work.left < 0) throw new TooLargeToCompare()
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, at) => areSame(one, b[at], work))
  if (Array.isArray(b)) return false
  const [left, right] = [
    new Map<string, unknown>(Object.entries(a)),
    new Map<string, unknown>(Object.entries(b)),
  ]
  for (const [key, value] of left) if (!areSame(value, right.get(key), work)) return false
  for (const [key, value] of right) if (!isNothing(value) && !left.has(key)) return false
  return true
}
