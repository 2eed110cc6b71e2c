/** The middle of the numbers, or of the two in the middle their mean; NaN without any. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

export interface Ratio {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

/**
 * Ours / theirs, round by round, and of these the median. The two turns of a round are neighbours in time, so what
 * slows the machine down for a while slows both down and drops out.
 */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Ratio {
  const ratios = ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN))
  return { median: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) }
}
