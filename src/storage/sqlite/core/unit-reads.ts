/**
 * How a unit of work (`unit-of-work.ts`) is kept on SQLite: the session that has the writer sees all that ended before and is
 * alone, so a unit takes the writer before its first read. It gives the writer back at the end of a turn of the event loop in
 * which it wrote nothing, so that it does not keep others waiting while it waits itself, and takes it again for its next
 * operation. Then what it has read must be unchanged. Most units are over within one turn and can have no conflict; one that had
 * it keeps the writer from its first read on when it begins once more.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { ALONE_FROM, SerializationConflict, type UnitOfWork } from '../../unit-of-work.ts'
import type { StorageEntry } from './storage-entry.ts'

export class UnitReads {
  readonly #unit: UnitOfWork
  /** What was read, each with what `kept` was then. */
  readonly #read = new Map<StorageEntry, number>()

  constructor(unit: UnitOfWork) {
    this.#unit = unit
  }

  /** Whether it gives the writer back between two operations. */
  get yields(): boolean {
    return this.#unit.attempt < ALONE_FROM
  }

  /** With the writer, before an operation. Throws SerializationConflict. */
  check(): void {
    for (const [entry, revision] of this.#read)
      if (entry.revision !== revision) throw new SerializationConflict()
  }

  /** With the writer, before something is read from the storage. */
  note(entry: StorageEntry): void {
    if (!this.#read.has(entry)) this.#read.set(entry, entry.revision)
  }

  /** Those of which nothing was read yet. */
  unread(entries: readonly StorageEntry[]): readonly StorageEntry[] {
    return entries.filter((entry) => !this.#read.has(entry))
  }

  /** What was noted of them is read again: no value of it has reached the run. */
  forget(entries: readonly StorageEntry[]): void {
    for (const entry of entries) this.#read.delete(entry)
  }

  /** It is undone, and begins once more. */
  clear(): void {
    this.#read.clear()
  }
}

/** Each waits for at most the deadline of its run. */
const MOST_SLOW = 1_000

/**
 * Units whose searches go to the search thread, one after the other: side by side all read the same, the first that writes
 * undoes what the others have read, and they read again. Of 24 clients that summed 60,000 documents and then wrote, 27 requests
 * were answered in 11 s and 6,402 refused, because the thread had no room for so many searches.
 */
export class SlowUnits {
  #isTaken = false
  readonly #waiting: (() => void)[] = []

  /** Resolves with what lets the next one go on. Throws UNAVAILABLE. */
  async take(): Promise<() => void> {
    if (this.#waiting.length >= MOST_SLOW)
      throw new QuoinError('UNAVAILABLE', 'Too many slow searches are waiting. Try again in a few seconds.', {
        retryAfter: 3,
      })
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#isTaken = true
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#isTaken = false
    }
  }
}
