import { useMutation } from '@tanstack/react-query'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { barTexts } from '../../texts/bar.ts'
import { activate, deactivate } from '../api/editor-api.ts'
import { useEditor } from '../state/editor-context.ts'

/** Saving and switching, with a word on how it went. Deploying has a dialog of its own. */
export function useStageActions() {
  const editor = useEditor()
  const { guid } = editor.store.getState()
  const saving = useMutation({
    mutationFn: () => editor.save(),
    onSuccess: () => notifyDone(barTexts.saved),
    onError: (error) => notifyFailed(barTexts.couldNotSave, error),
  })
  const switching = useMutation({
    mutationFn: (on: boolean) => (on ? activate(guid) : deactivate(guid)),
    onSuccess: async (blueprint) => {
      editor.set({ blueprint })
      notifyDone(blueprint.active ? barTexts.activated : barTexts.deactivated)
      await editor.sync.refresh()
    },
    onError: (error) => notifyFailed(barTexts.activationFailed, error),
  })
  return {
    save: () => saving.mutate(),
    isSaving: saving.isPending,
    activateNow: () => switching.mutate(true),
    deactivateNow: () => switching.mutate(false),
  }
}
