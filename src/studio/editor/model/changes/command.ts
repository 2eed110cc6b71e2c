/** One thing that was done, kept so that it can be taken back: what it changed, as it was and as it became. */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'
import type { Flow } from '../flow.ts'

export interface Edit {
  readonly guid: string
  /** null: it was not there. */
  readonly before: BlockContent | null
  /** null: it is gone. */
  readonly after: BlockContent | null
}

export interface Drawing {
  readonly flow: Flow
  readonly notes: readonly BlueprintNote[]
}

export interface Command {
  /** For the undo button: "Move 3 blocks". */
  readonly label: string
  readonly edits: readonly Edit[]
  readonly notes:
    | { readonly before: readonly BlueprintNote[]; readonly after: readonly BlueprintNote[] }
    | undefined
  /** Commands in a row with the same word, such as letters typed into one field, are taken back together. */
  readonly merge: string | undefined
}

/** What lies between two drawings, or undefined if nothing does. */
export function commandBetween(
  label: string,
  before: Drawing,
  after: Drawing,
  merge?: string,
): Command | undefined {
  const edits = editsBetween(before.flow, after.flow)
  const notes = before.notes === after.notes ? undefined : { before: before.notes, after: after.notes }
  return edits.length === 0 && !notes ? undefined : { label, edits, notes, merge }
}

/** Blocks are told apart by identity: flows are never changed in place. */
function editsBetween(before: Flow, after: Flow): Edit[] {
  const edits: Edit[] = []
  for (const [guid, content] of after) {
    const old = before.get(guid) ?? null
    if (old !== content) edits.push({ guid, before: old, after: content })
  }
  for (const [guid, content] of before) {
    if (!after.has(guid)) edits.push({ guid, before: content, after: null })
  }
  return edits
}

export function applyEdits(flow: Flow, edits: readonly Edit[]): Flow {
  const next = new Map(flow)
  for (const { guid, after } of edits) {
    // The server has given it a name since.
    const name = after?.name ?? flow.get(guid)?.name
    if (after) next.set(guid, name === undefined || name === after.name ? after : { ...after, name })
    else next.delete(guid)
  }
  return next
}

export function inverse({ label, edits, notes, merge }: Command): Command {
  return {
    label,
    merge,
    edits: edits.map(({ guid, before, after }) => ({ guid, before: after, after: before })),
    notes: notes && { before: notes.after, after: notes.before },
  }
}

/** Two commands in a row as one. */
export function joined(first: Command, second: Command): Command {
  const edits = new Map(first.edits.map((edit) => [edit.guid, edit]))
  for (const edit of second.edits) {
    const before = edits.get(edit.guid)
    edits.set(edit.guid, before ? { ...edit, before: before.before } : edit)
  }
  const notes =
    first.notes && second.notes
      ? { before: first.notes.before, after: second.notes.after }
      : (second.notes ?? first.notes)
  return { label: second.label, merge: second.merge, edits: [...edits.values()], notes }
}
