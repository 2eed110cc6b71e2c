import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { lastValues, listRuns } from '../../api/runs.ts'
import { runsKey } from '../runs/run-queries.ts'
import { useEditorState } from '../state/editor-context.ts'
import { type BlockLast, lastByBlock } from './last-values.ts'

/** How often is asked whether there is a newer run, in milliseconds: it costs the server one record. */
const ASKED_MS = 5_000

const none: ReadonlyMap<string, BlockLast> = new Map()

/** By block: the values of the last run that passed it, the same for canvas and panel. Nothing for users who may not see runs. */
export function useLastValues(): ReadonlyMap<string, BlockLast> {
  const blueprint = useEditorState((state) => state.guid)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const newest = useQuery({
    queryKey: [...runsKey(blueprint), 'newest'],
    queryFn: async ({ signal }) => {
      const [run] = (await listRuns(blueprint, { failed: false, limit: 1 }, signal)).records
      return run ? `${run.guid} ${run.status}` : ''
    },
    retry: false,
    refetchInterval: ({ state }) => (state.status === 'error' ? false : ASKED_MS),
  }).data
  const { data } = useQuery({
    queryKey: ['last-values', blueprint, newest],
    queryFn: ({ signal }) => lastValues(blueprint, signal),
    enabled: newest !== undefined && newest !== '',
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
  return useMemo(() => (data && newest !== '' ? lastByBlock(data, flow) : none), [data, newest, flow])
}
