import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { RunSummary } from '../../../shared/api/blueprints/runs.ts'
import { watchRuns } from '../api/run-stream.ts'
import { isFailed, withRun } from '../model/runs/run-list.ts'
import { useEditorState } from '../state/editor-context.ts'
import { pausedQuery, runCountsQuery, runQuery, runsKey, runsQuery, useTracing } from './run-queries.ts'

/**
 * Hears of runs as they happen, while they are visible: while the blueprint is traced or its list of runs is open, and the
 * tab is in sight. A browser opens six connections to a server, so an unused one is a waste.
 */
export function useRunEvents(): void {
  const blueprint = useEditorState((state) => state.guid)
  const isListOpen = useEditorState(({ panel }) => panel === 'runs')
  const isTraced = useTracing().data?.on === true
  const isVisible = useDocumentVisibility() === 'visible'
  const client = useQueryClient()
  const isListening = (isListOpen || isTraced) && isVisible
  useEffect(() => {
    if (!isListening) return undefined
    const abort = new AbortController()
    const listener = {
      run(summary: RunSummary) {
        for (const failed of isFailed(summary) ? [false, true] : [false])
          client.setQueryData(runsQuery(blueprint, failed).queryKey, (list) => list && withRun(list, summary))
        // One at a time, however many runs there are.
        const { queryKey } = runCountsQuery(blueprint)
        void client.invalidateQueries({ queryKey }, { cancelRefetch: false })
        void client.invalidateQueries({ queryKey: runQuery(summary.guid).queryKey })
        void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
      },
      opened() {
        void client.invalidateQueries({ queryKey: runsKey(blueprint) })
        void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
      },
    }
    void watchRuns(blueprint, listener, abort.signal)
    return () => abort.abort()
  }, [blueprint, client, isListening])
}
