import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Run } from '../../../shared/api/runs.ts'
import { runsOf } from '../model/run-list.ts'
import { runQuery, runsQuery, useShownRun } from '../runs/run-queries.ts'
import { useEditorState } from '../state/editor-context.ts'

/** The run that is drawn, else the newest traced run of the blueprint. */
export function useLastRun(): Run | undefined {
  const blueprint = useEditorState((state) => state.guid)
  const { shown, run } = useShownRun()
  const list = useInfiniteQuery({ ...runsQuery(blueprint, false), enabled: shown === undefined })
  const [newest] = runsOf(list.data?.pages ?? [])
  const last = useQuery({
    ...runQuery(newest?.guid ?? ''),
    enabled: shown === undefined && newest !== undefined,
  })
  return run ?? (shown === undefined ? last.data : undefined)
}
