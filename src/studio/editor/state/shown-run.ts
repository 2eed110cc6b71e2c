/** The run that is drawn on the canvas and in the outline, and the step of it that is looked at. */
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import type { Editor } from './editor.ts'

/** Shows a run as a whole. */
export function showRun(editor: Editor, guid: string): void {
  const { shownRun } = editor.store.getState()
  if (shownRun?.guid !== guid || shownRun.at !== undefined) editor.set({ shownRun: { guid, at: undefined } })
}

export function leaveRun(editor: Editor): void {
  if (editor.store.getState().shownRun) editor.set({ shownRun: undefined })
}

/** Looks at a step by its place, from 0; undefined: at the whole run again. */
export function goToStep(editor: Editor, at: number | undefined): void {
  const { shownRun } = editor.store.getState()
  if (shownRun) editor.set({ shownRun: { ...shownRun, at } })
}

/** The step before or behind the one that is looked at. Forward from the whole run is its first step, back its last. */
export function goByStep(editor: Editor, run: Pick<Run, 'steps'>, by: 1 | -1): void {
  const { shownRun } = editor.store.getState()
  const last = run.steps.length - 1
  if (!shownRun || last < 0) return
  const at = shownRun.at === undefined ? (by === 1 ? 0 : last) : shownRun.at + by
  goToStep(editor, Math.max(0, Math.min(last, at)))
}
