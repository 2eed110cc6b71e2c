/**
 * How a unit of work (`unit-of-work.ts`) is kept on SQLite: the session that has the writer sees all that ended before and is
 * alone, so a unit takes the writer before its first read. It gives the writer back at the end of a turn of the event loop in
 * which it wrote nothing, so that it does not keep others waiting while it waits itself, and takes it again for its next
 * operation. Then what it has read must be unchanged. Most units are over within one turn and can have no conflict; one that had
 * it keeps the writer from its first read on when it begins once more.
 */
import { ALONE_FROM, UnitConflict, type UnitOfWork } from '../../unit-of-work.ts'
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

  /** With the writer, before an operation. Throws UnitConflict. */
  check(): void {
    for (const [entry, kept] of this.#read) if (entry.kept !== kept) throw new UnitConflict()
  }

  /** With the writer, before something is read from the storage. */
  note(entry: StorageEntry): void {
    if (!this.#read.has(entry)) this.#read.set(entry, entry.kept)
  }

  /** It is undone, and begins once more. */
  clear(): void {
    this.#read.clear()
  }
}
