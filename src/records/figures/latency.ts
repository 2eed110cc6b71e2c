/** Seconds. From what a cached reply takes to the deadline of a run; a last, open step follows. */
export const latencySteps = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Milliseconds that this share of the requests stayed below, estimated inside its step; null without requests. `buckets`:
 * how many took at most as long as the step says and longer than the one before; what is missing at the end is 0.
 */
export function latencyAt(share: number, buckets: readonly number[]): number | null {
  const all = buckets.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  const rank = share * all
  let before = 0
  for (const [at, count] of buckets.entries()) {
    if (count > 0 && before + count >= rank) {
      const from = at === 0 ? 0 : (latencySteps[at - 1] ?? 0)
      // Longer than the last step: no more is known.
      const to = latencySteps[at] ?? from
      return Math.round((from + ((rank - before) / count) * (to - from)) * 10_000) / 10
    }
    before += count
  }
  return null
}
