/**
 * What was done and what was taken back. A command is put on `done`; undo moves it to `undone`, redo moves it back; doing
 * something new forgets what was taken back. Others may have changed the same block meanwhile: then taking back would
 * overwrite their work, and is refused with a reason.
 */
import { withPresentNames } from '../../expressions/print-names.ts'
import { sameContent } from '../../expressions/same-content.ts'
import { applyEdits, type Command, type Drawing, inverse, joined } from './command.ts'

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
  /** Another user has changed the block since. */
  | { readonly outcome: 'overtaken'; readonly guid: string; readonly label: string }

export function undo(history: History, drawing: Drawing): Step {
  const last = history.done.at(-1)
  if (!last) return { outcome: 'nothing' }
  return step(inverse(last), drawing, {
    ...history,
    done: history.done.slice(0, -1),
    undone: [...history.undone, last],
    at: 0,
  })
}

export function redo(history: History, drawing: Drawing): Step {
  const last = history.undone.at(-1)
  if (!last) return { outcome: 'nothing' }
  return step(last, drawing, {
    ...history,
    done: [...history.done, last],
    undone: history.undone.slice(0, -1),
    at: 0,
  })
}

function step(command: Command, drawing: Drawing, history: History): Step {
  const stale = command.edits.find(({ guid, before }) => !sameContent(drawing.flow.get(guid) ?? null, before))
  if (stale) return { outcome: 'overtaken', guid: stale.guid, label: command.label }
  return { outcome: 'done', history, command }
}

export function applied(drawing: Drawing, command: Command): Drawing {
  return {
    flow: withPresentNames(applyEdits(drawing.flow, command.edits)),
    notes: command.notes ? command.notes.after : drawing.notes,
  }
}
