import type { Place } from './expression.ts'

/** Ends the reading of an expression; the parser makes a problem of it. */
export class RefusedNode extends Error {
  readonly place: Place

  constructor(message: string, place: Place) {
    super(message)
    this.name = 'RefusedNode'
    this.place = { start: place.start, end: place.end }
  }
}
