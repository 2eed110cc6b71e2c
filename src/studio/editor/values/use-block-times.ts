import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { blockTimes } from '../../api/runs.ts'
import { useEditorState } from '../state/editor-context.ts'

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
