import { useMutation } from '@tanstack/react-query'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { activate, deactivate } from '../api/editor-api.ts'
import { useEditor } from '../state/editor-context.ts'

/** Saving and switching, with a word on how it went. Deploying has a dialog of its own. */
export function useStageActions() {
  const editor = useEditor()
  const { guid } = editor.store.getState()
  const saving = useMutation({
    mutationFn: () => editor.save(),
    onSuccess: () => notifyDone('Saved. It goes live when it is deployed.'),
    onError: (error) => notifyFailed('Could not save', error),
  })
  const switching = useMutation({
    mutationFn: (on: boolean) => (on ? activate(guid) : deactivate(guid)),
    onSuccess: async (blueprint) => {
      editor.set({ blueprint })
      notifyDone(blueprint.active ? 'Active. Its endpoints are live.' : 'Inactive. Its endpoints reply 404.')
      await editor.sync.refresh()
    },
    onError: (error) => notifyFailed('Could not activate or deactivate', error),
  })
  return {
    save: () => saving.mutate(),
    isSaving: saving.isPending,
    activateNow: () => switching.mutate(true),
    deactivateNow: () => switching.mutate(false),
  }
}
