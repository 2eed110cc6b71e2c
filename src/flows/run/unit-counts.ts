import type { Counted, CountedCall, RunCounts } from '../../blocks/run-counts.ts'
import type { RunUnit } from './run-unit.ts'

/** Counts for one try of a run. A unit of work that begins once more gets what its first try has counted. */
export function unitCounts(counts: RunCounts, unit: RunUnit | undefined): RunCounts {
  if (!unit) return counts
  const asked = new Map<string, number>()
  return {
    async count(call) {
      const key = keyOf(call)
      const nth = asked.get(key) ?? 0
      asked.set(key, nth + 1)
      const known: readonly Counted[] = unit.counted.get(key) ?? []
      const before = known[nth]
      if (before) return before
      const counted = await counts.count(call)
      unit.counted.set(key, [...known, counted])
      return counted
    },
  }
}

function keyOf({ key, window, most, amount }: CountedCall): string {
  return `${window} ${most} ${amount} ${key}`
}
