/** One thing that was done, kept so that it can be taken back: what it changed, as it was and as it became. */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'
import type { Flow } from '../flow.ts'

/** Of a block, or of a note by its id. */
export interface Edit<Content = BlockContent> {
  readonly guid: string
  /** null: it was not there. */
  readonly before: Content | null
  /** null: it is gone. */
  readonly after: Content | null
}

export interface Drawing {
  readonly flow: Flow
  readonly notes: readonly BlueprintNote[]
}

export interface Command {
  /** For the undo button: "Move 3 blocks". */
  readonly label: string
  readonly edits: readonly Edit[]
  /** Note by note: those of other users stay when it is taken back. */
  readonly notes: readonly Edit<BlueprintNote>[]
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
  const notes =
    before.notes === after.notes ? [] : editsBetween(notesById(before.notes), notesById(after.notes))
  return edits.length === 0 && notes.length === 0 ? undefined : { label, edits, notes, merge }
}

function notesById(notes: readonly BlueprintNote[]): ReadonlyMap<string, BlueprintNote> {
  return new Map(notes.map((note) => [note.id, note]))
}

/** Blocks and notes are told apart by identity: they are never changed in place. */
function editsBetween<Content>(
  before: ReadonlyMap<string, Content>,
  after: ReadonlyMap<string, Content>,
): Edit<Content>[] {
  const edits: Edit<Content>[] = []
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

/** A frame that comes back lies behind the others, as a new one does. */
export function applyToNotes(
  notes: readonly BlueprintNote[],
  edits: readonly Edit<BlueprintNote>[],
): readonly BlueprintNote[] {
  if (edits.length === 0) return notes
  const next = new Map(edits.map(({ guid, after }) => [guid, after]))
  const there = notes.flatMap((note) => (next.has(note.id) ? (next.get(note.id) ?? []) : [note]))
  const ids = new Set(notes.map(({ id }) => id))
  const back = edits.flatMap(({ guid, after }) => (after && !ids.has(guid) ? [after] : []))
  return [
    ...back.filter(({ kind }) => kind === 'group'),
    ...there,
    ...back.filter(({ kind }) => kind !== 'group'),
  ]
}

export function inverse({ label, edits, notes, merge }: Command): Command {
  return { label, merge, edits: edits.map(backwards), notes: notes.map(backwards) }
}

function backwards<Content>({ guid, before, after }: Edit<Content>): Edit<Content> {
  return { guid, before: after, after: before }
}

/** Two commands in a row as one. */
export function joined(first: Command, second: Command): Command {
  return {
    label: second.label,
    merge: second.merge,
    edits: joinedEdits(first.edits, second.edits),
    notes: joinedEdits(first.notes, second.notes),
  }
}

function joinedEdits<Content>(
  first: readonly Edit<Content>[],
  second: readonly Edit<Content>[],
): readonly Edit<Content>[] {
  const edits = new Map(first.map((edit) => [edit.guid, edit]))
  for (const edit of second) {
    const before = edits.get(edit.guid)
    edits.set(edit.guid, before ? { ...edit, before: before.before } : edit)
  }
  return [...edits.values()]
}
