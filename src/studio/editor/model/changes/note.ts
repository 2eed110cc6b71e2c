import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'

export const noteColors = ['yellow', 'petrol', 'blue', 'grape', 'red', 'gray'] as const

/** The current notes of other users, with what was changed here since `base` on top: note by note, the last word counts. */
export function mergeNotes(
  base: readonly BlueprintNote[],
  mine: readonly BlueprintNote[],
  theirs: readonly BlueprintNote[],
): BlueprintNote[] {
  const before = new Map(base.map((note) => [note.id, note]))
  const requested = new Map(mine.map((note) => [note.id, note]))
  const remaining = theirs.flatMap((note) => {
    const own = requested.get(note.id)
    if (own) return [own === before.get(note.id) ? note : own]
    return before.has(note.id) ? [] : [note]
  })
  const there = new Set(theirs.map(({ id }) => id))
  return [...remaining, ...mine.filter(({ id }) => !there.has(id) && !before.has(id))]
}
