import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { type Steering, steerRun } from '../../api/runs.ts'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import { pausedQuery, runQuery } from './run-queries.ts'

/** A run that is to pause at the next block is there after this long, in milliseconds, unless a block waits. */
const SOON_MS = 120

/** Lets a paused run go on, or ends it. */
export function useSteering() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.guid)
  const client = useQueryClient()
  const look = (run: string) => {
    void client.invalidateQueries({ queryKey: runQuery(run).queryKey })
    void client.invalidateQueries({ queryKey: pausedQuery(blueprint).queryKey })
  }
  return useMutation({
    mutationFn: ({ run, how }: { readonly run: string; readonly how: Steering }) => steerRun(run, how),
    onMutate: ({ run }) => showRun(editor, run),
    onError: (error) => {
      if (error instanceof ApiError && error.status === 404) notifyDone(runsTexts.alreadyResumed)
      else notifyFailed(runsTexts.controlFailed, error)
    },
    onSettled: (_summary, _error, { run }) => {
      look(run)
      setTimeout(() => look(run), SOON_MS)
    },
  })
}
