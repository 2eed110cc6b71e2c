import { type TextTotals, together } from '../text/text-totals.ts'

/** What one session writes between two of its commits, as the writer has it. */
export interface Segment {
  /** Whether the database may grow for it while the disk is full. */
  readonly reserve?: boolean
  /** What it changed of the totals of free text; written with its group. */
  readonly totals?: TextTotals
  /** Called when the segment has got the turn. */
  granted(): void
  /** Called if the segment's writes are gone and it no longer has the turn. */
  lost(error: unknown): void
  /** Called when the segment was kept: after it is on disk (undefined), or when its group has failed. */
  settled(error: unknown): void
}

/** The segments that reach the disk together, in one transaction. */
export class CommitGroup {
  readonly kept: Segment[] = []
  /** Resolves when the segments are on disk; rejects when the group has failed. */
  readonly done: Promise<void>
  /** Whether a look at it comes at the end of this turn of the event loop. */
  isScheduled = false
  readonly #resolve: () => void
  readonly #reject: (error: unknown) => void

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // The sessions that kept a segment hear of it; a group in which there is none is no news.
    promise.catch(() => undefined)
    this.done = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  /** What its segments have changed of the totals of free text, together with the one that has the turn. */
  totals(holder?: Segment): TextTotals {
    return together(holder ? [...this.kept, holder] : this.kept)
  }

  committed(): void {
    for (const segment of this.kept) segment.settled(undefined)
    this.#resolve()
  }

  failed(error: unknown): void {
    for (const segment of this.kept) segment.settled(error)
    this.#reject(error)
  }
}

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
