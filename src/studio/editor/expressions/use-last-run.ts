import { useQuery } from '@tanstack/react-query'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { runQuery, useShownRun } from '../runs/run-queries.ts'
import { useLastValues } from '../values/use-last-values.ts'

/** The run that is drawn, else the last one that passed the block, else the newest whose values are shown. */
export function useLastRun(block: string): Run | undefined {
  const { shown, run } = useShownRun()
  const values = useLastValues()
  const [any] = values.values()
  const guid = (values.get(block) ?? any)?.run.guid
  const last = useQuery({ ...runQuery(guid ?? ''), enabled: shown === undefined && guid !== undefined })
  return run ?? (shown === undefined ? last.data : undefined)
}
