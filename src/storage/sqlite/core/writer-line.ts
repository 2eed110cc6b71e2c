import type { Segment } from './commit-group.ts'

interface Waiting {
  /** undefined: a turn without a segment. */
  readonly segment: Segment | undefined
  readonly turn: () => void
  readonly reject: (error: unknown) => void
}

/** Those that wait for their turn with the writer, in the order in which they came. */
export class WriterLine {
  #waiting: Waiting[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting)
  }

  /** Gives the first one its turn; false when none waits. What the turn throws is what its promise rejects with. */
  takeFirst(): boolean {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return false
    try {
      waiting.turn()
    } catch (error) {
      waiting.reject(error)
    }
    return true
  }

  giveUp(segment: Segment, error: unknown): void {
    const gone = this.#waiting.filter((waiting) => waiting.segment === segment)
    this.#waiting = this.#waiting.filter((waiting) => waiting.segment !== segment)
    for (const { reject } of gone) reject(error)
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
