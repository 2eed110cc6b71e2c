import type { Drawing } from '../model/changes/command.ts'
import { moveBlocks } from '../model/changes/flow-changes.ts'
import type { Folds } from './folds.ts'

interface Point {
  readonly x: number
  readonly y: number
}

/** With blocks and remarks at other places; what is inside of a box goes along with it. `places`: by guid or `note:` id. */
export function movedDrawing(drawing: Drawing, folds: Folds, places: ReadonlyMap<string, Point>): Drawing {
  const all = new Map(places)
  const notes = new Map(drawing.notes.map((note) => [`note:${note.id}`, note.position]))
  for (const [id, box] of folds.boxes) {
    const place = places.get(id)
    if (!place) continue
    const [x, y] = [place.x - box.note.position.x, place.y - box.note.position.y]
    for (const inner of [...box.blocks, ...box.notes]) {
      const from = drawing.flow.get(inner)?.position ?? notes.get(inner)
      if (from) all.set(inner, { x: from.x + x, y: from.y + y })
    }
  }
  const moved = drawing.notes.map((note) => {
    const place = all.get(`note:${note.id}`)
    const isThere = !place || (place.x === note.position.x && place.y === note.position.y)
    return isThere ? note : { ...note, position: { x: place.x, y: place.y } }
  })
  const isSame = moved.every((note, at) => note === drawing.notes[at])
  return { flow: moveBlocks(drawing.flow, all), notes: isSame ? drawing.notes : moved }
}
