import { useShortcut } from '../../shell/shortcuts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { useBreakpoints } from './use-breakpoints.ts'

/** Keys for runs that work whether one is shown or not. */
export function useRunShortcuts(): void {
  const editor = useEditor()
  const breakpoints = useBreakpoints()
  const only = useEditorState(({ selection }) => (selection.size === 1 ? [...selection][0] : undefined))
  useShortcut({ keys: 'r', label: runsTexts.runs, group: runsTexts.runs }, () => {
    const { panel } = editor.store.getState()
    editor.set({ panel: panel === 'runs' ? 'properties' : 'runs' })
  })
  useShortcut({ keys: 'b', label: runsTexts.breakpointSelectedStep, group: runsTexts.runs }, () => {
    if (only !== undefined) breakpoints.toggle(only)
  })
}
