/** Ranges of numbers, numbered from 0: before the first bound, between two, from the last one on. */

/** How many bounds the number reaches. */
export function rangeOf(bounds: readonly number[], number: number): number {
  return bounds.filter((bound) => number >= bound).length
}

/** `..10`, `10..20`, `20..`: from the first number on, and before the second. */
export function rangeText(bounds: readonly number[], range: number): string {
  return `${bounds[range - 1] ?? ''}..${bounds[range] ?? ''}`
}
