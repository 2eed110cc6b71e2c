/**
 * What was done and what was taken back. A command is put on `done`; undo moves it to `undone`, redo moves it back; doing
 * something new forgets what was taken back. Others may have changed the same block or note meanwhile: then taking back would
 * overwrite their work. That step is left out with a reason, and the next one is the one before.
 */
import { sameJson } from '../../../../shared/json.ts'
import { withPresentNames } from '../../expressions/print-names.ts'
import { sameContent } from '../../expressions/same-content.ts'
import { applyEdits, applyToNotes, type Command, type Drawing, inverse, joined } from './command.ts'

export interface History {
  readonly done: readonly Command[]
  readonly undone: readonly Command[]
  /** When the last command was done, in milliseconds. */
  readonly at: number
}

export const emptyHistory: History = { done: [], undone: [], at: 0 }

/** More steps than users undo; each holds copies only of the blocks that it changed. */
const MOST = 200
const MERGE_MS = 1500

export function remember(history: History, command: Command, now: number): History {
  const last = history.done.at(-1)
  const merges =
    last?.merge !== undefined &&
    last.merge === command.merge &&
    history.undone.length === 0 &&
    now - history.at < MERGE_MS
  const done = merges ? [...history.done.slice(0, -1), joined(last, command)] : [...history.done, command]
  return { done: done.slice(-MOST), undone: [], at: now }
}

export type Step =
  | { readonly outcome: 'done'; readonly history: History; readonly command: Command }
  | { readonly outcome: 'nothing' }
  /** Another user has changed the block or note since. The step is in no history. */
  | { readonly outcome: 'overtaken'; readonly history: History; readonly label: string }

export function undo(history: History, drawing: Drawing): Step {
  const last = history.done.at(-1)
  if (!last) return { outcome: 'nothing' }
  const left = { ...history, done: history.done.slice(0, -1), at: 0 }
  return step(inverse(last), drawing, left, { ...left, undone: [...history.undone, last] })
}

export function redo(history: History, drawing: Drawing): Step {
  const last = history.undone.at(-1)
  if (!last) return { outcome: 'nothing' }
  const left = { ...history, undone: history.undone.slice(0, -1), at: 0 }
  return step(last, drawing, left, { ...left, done: [...history.done, last] })
}

/** `left`: the history without the command; `after`: when it was done. */
function step(command: Command, drawing: Drawing, left: History, after: History): Step {
  const notes = new Map(drawing.notes.map((note) => [note.id, note]))
  const isOvertaken =
    command.edits.some(({ guid, before }) => !sameContent(drawing.flow.get(guid) ?? null, before)) ||
    command.notes.some(({ guid, before }) => !sameJson(notes.get(guid) ?? null, before))
  if (isOvertaken) return { outcome: 'overtaken', history: left, label: command.label }
  return { outcome: 'done', history: after, command }
}

export function applied(drawing: Drawing, command: Command): Drawing {
  return {
    flow: withPresentNames(applyEdits(drawing.flow, command.edits)),
    notes: applyToNotes(drawing.notes, command.notes),
  }
}
