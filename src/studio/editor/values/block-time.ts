import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { BlockTimes } from '../../../shared/api/blocks/blocks.ts'
import { blockTimes } from '../../api/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { useEditorState } from '../state/editor-context.ts'

export type BlockTime = BlockTimes['blocks'][number]

/** `×120`, and the times in words; of a block that asks a model also what it used. */
export function timeWords({ passes, p50_us, p95_us, tokens, cost = 0 }: BlockTime) {
  const [median, most] = [duration(p50_us / 1_000), duration(p95_us / 1_000)]
  const used =
    tokens === undefined
      ? ''
      : runsTexts.modelUse(tokens.toLocaleString('en'), cost === 0 ? '' : cost.toLocaleString('en'))
  const spoken = runsTexts.timesSpoken(passes, median, most)
  return { passes: `×${passes}`, median, most, used, spoken: used === '' ? spoken : `${spoken}, ${used}` }
}

export function sameTime(a: BlockTime | undefined, b: BlockTime | undefined): boolean {
  const shown = (one: BlockTime | undefined) => one && shownParts.map((name) => one[name]).join()
  return a === b || shown(a) === shown(b)
}

const shownParts = ['passes', 'p50_us', 'p95_us', 'tokens', 'cost'] as const

/** Samples of other nodes come that often, in milliseconds. */
const ASKED_MS = 10_000

/** Times of blocks in sampled runs of the deployed version, by block; undefined while they are not shown. */
export function useBlockTimes() {
  const blueprint = useEditorState((state) => state.guid)
  const isOn = useEditorState(({ shows }) => shows.times)
  const { data, error } = useQuery({
    queryKey: ['block-times', blueprint],
    queryFn: ({ signal }) => blockTimes(blueprint, signal),
    enabled: isOn,
    refetchInterval: ASKED_MS,
  })
  const byBlock = useMemo(
    () => (isOn && data ? new Map(data.blocks.map((one) => [one.block, one])) : undefined),
    [isOn, data],
  )
  return { byBlock, data: isOn ? data : undefined, error: isOn ? error : null }
}
