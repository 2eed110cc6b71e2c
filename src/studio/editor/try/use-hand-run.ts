import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { HandRunAsked } from '../../../shared/api/blueprints/runs.ts'
import { runByHand } from '../../api/runs.ts'
import { runQuery, runsKey } from '../runs/run-queries.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import type { TriedInput } from '../state/editor-state.ts'
import { pinsForTry } from '../state/pinned-replies.ts'
import { leaveRun, showRun } from '../state/shown-run.ts'
import { type Asked, signatureOf } from './send-request.ts'

type HandRun = Omit<HandRunAsked, 'state' | 'pinned'> & {
  /** The request of the input, where its endpoint checks signatures: it is signed as a request that is sent. */
  readonly signed?: Asked | undefined
}

const nothingTyped: TriedInput = {}

/** What was typed for a trigger, and what changes it. The panel goes while a run, a block or a test is looked at. */
export function useTried(key: string): readonly [TriedInput, (change: TriedInput) => void] {
  const editor = useEditor()
  const tried = useEditorState((state) => state.tried.get(key) ?? nothingTyped)
  const change = (typed: TriedInput) =>
    editor.store.setState((state) => ({
      tried: new Map(state.tried).set(key, { ...state.tried.get(key), ...typed }),
    }))
  return [tried, change]
}

/** Runs a trigger by hand and draws the run, also one that failed. Without effects it runs what is drawn. */
export function useHandRun() {
  const editor = useEditor()
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ signed, ...asked }: HandRun) => {
      const input = signed ? { ...asked.input, headers: await signatureOf(signed) } : asked.input
      const blueprint = editor.store.getState().guid
      // What was drawn a moment ago runs too.
      await editor.sync.settled()
      const drawn = { state: 'staged', pinned: pinsForTry(editor) } as const
      const run = { ...asked, ...(input && { input }) }
      return runByHand(blueprint, { ...run, ...(asked.effects === 'real' ? { state: 'deployed' } : drawn) })
    },
    onMutate: () => {
      leaveRun(editor)
      editor.set({ isTrying: true })
    },
    onSuccess: (run) => {
      client.setQueryData(runQuery(run.guid).queryKey, run)
      void client.invalidateQueries({ queryKey: runsKey(run.blueprint) })
      showRun(editor, run.guid)
    },
    onSettled: () => editor.set({ isTrying: false }),
  })
}
