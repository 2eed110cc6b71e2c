/** A remark on the canvas, or a frame around blocks. It belongs to the drawing and means nothing to what runs. */
export interface Note {
  readonly id: string
  readonly kind: 'note' | 'group'
  readonly text: string
  readonly color: string
  readonly position: { readonly x: number; readonly y: number }
  readonly size: { readonly width: number; readonly height: number }
}

export const noteColors = ['yellow', 'petrol', 'blue', 'grape', 'red', 'gray'] as const

/** Somebody else's notes as they are now, with what was changed here since `base` on top: note by note, the last word counts. */
export function mergeNotes(base: readonly Note[], mine: readonly Note[], theirs: readonly Note[]): Note[] {
  const before = new Map(base.map((note) => [note.id, note]))
  const wanted = new Map(mine.map((note) => [note.id, note]))
  const kept = theirs.flatMap((note) => {
    const own = wanted.get(note.id)
    if (own) return [own === before.get(note.id) ? note : own]
    return before.has(note.id) ? [] : [note]
  })
  const there = new Set(theirs.map(({ id }) => id))
  return [...kept, ...mine.filter(({ id }) => !there.has(id) && !before.has(id))]
}
