import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'
import { sameJson } from '../../../../shared/json.ts'

export const noteColors = ['yellow', 'petrol', 'blue', 'grape', 'red', 'gray'] as const

type Notes = readonly BlueprintNote[]

interface ChangedNotes {
  readonly notes: Notes
  /** What they were changed from, which the server has; undefined where nothing is to be sent. */
  readonly base: Notes | undefined
}

/**
 * What is drawn when the server has `theirs`: that, with what was changed here since `base` on top, note by note; the last word
 * counts. They go to the server as a whole, so `theirs` is what they are changed from now: with an older one, the next
 * merge would take the notes of others for removed.
 */
export function notesOver(theirs: Notes, base: Notes, drawn: Notes): ChangedNotes {
  const merged = mergedNotes(base, drawn, theirs)
  // The same list again where it says the same, so that nothing is drawn again.
  return {
    notes: sameJson(drawn, merged) ? drawn : merged,
    base: sameJson(merged, theirs) ? undefined : theirs,
  }
}

function mergedNotes(base: Notes, mine: Notes, theirs: Notes): Notes {
  const before = new Map(base.map((note) => [note.id, note]))
  const requested = new Map(mine.map((note) => [note.id, note]))
  const remaining = theirs.flatMap((note) => {
    const own = requested.get(note.id)
    if (own) return [sameJson(own, before.get(note.id)) ? note : own]
    return before.has(note.id) ? [] : [note]
  })
  const there = new Set(theirs.map(({ id }) => id))
  return [...remaining, ...mine.filter(({ id }) => !there.has(id) && !before.has(id))]
}
