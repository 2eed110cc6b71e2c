import type { BlockTimes } from '../../../shared/api/blocks/blocks.ts'
import { duration } from '../../controls/amounts.ts'
import { runsTexts } from '../../texts/runs.ts'

export type BlockTime = BlockTimes['blocks'][number]

/** `×120`, and the times in words. */
export function timeWords({ passes, p50_us, p95_us }: BlockTime) {
  return {
    passes: `×${passes}`,
    median: duration(p50_us / 1_000),
    most: duration(p95_us / 1_000),
    spoken: runsTexts.timesSpoken(passes, duration(p50_us / 1_000), duration(p95_us / 1_000)),
  }
}

export function sameTime(a: BlockTime | undefined, b: BlockTime | undefined): boolean {
  return a === b || (a?.passes === b?.passes && a?.p50_us === b?.p50_us && a?.p95_us === b?.p95_us)
}
