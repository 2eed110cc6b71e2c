/** What a session writes between two commits, and what all sessions work with. */

import type { Stamps } from '../../document-session.ts'
import type { Observers } from '../../observers.ts'
import type { SearchAdvisor } from '../../search/search-advisor.ts'
import { followCommit } from '../cache/cached-results.ts'
import type { SearchCache } from '../cache/search-cache.ts'
import type { SqliteJobs } from '../jobs/sqlite-jobs.ts'
import type { SearchThread } from '../sql/search-thread.ts'
import { TextTotals } from '../text/text-totals.ts'
import type { Segment } from './commit-group.ts'
import type { SqliteCatalogue } from './sqlite-catalogue.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteWriter } from './sqlite-writer.ts'
import type { StorageEntry } from './storage-entry.ts'
import type { SlowUnits } from './unit-reads.ts'

/** What sessions share. */
export interface SessionParts {
  /** Of which one at a time searches in the thread. */
  readonly slowUnits: SlowUnits
  readonly writer: SqliteWriter
  readonly reader: SqliteConnection
  /** For searches that look at too much for one turn of the event loop. */
  readonly thread: SearchThread
  readonly catalogue: SqliteCatalogue
  readonly stamps: Stamps
  readonly jobs: SqliteJobs
  /** For sessions that see what is committed and nothing else. */
  readonly results: SearchCache
  readonly advisor: SearchAdvisor
  readonly observers: Observers
}

interface SessionEvents {
  granted(): void
  lost(error: unknown): void
}

/** The session's part in the writer's work, and what has to be set right when it is on disk or gone. */
export class SessionSegment implements Segment {
  /** Storages that were written to, and guids of documents there that other sessions may have read before. */
  readonly touched = new Map<StorageEntry, string[]>()
  /** Those whose shape was widened. */
  readonly widened = new Set<StorageEntry>()
  readonly totals = new TextTotals()
  /** Whether workers have something to do once it is committed. */
  enqueued = false
  /** Whether the job of its session ends with it. */
  endedJob = false
  /** Whether other sessions have to wait for its end, because of a document that it has read. */
  holds = false
  /** Whether it has given numbers, which its rollback would give again. */
  numbered = false
  /** See `Segment.reserve`: what it writes makes room, or its session may use the reserve anyway. */
  reserve: boolean
  /** Whether it ends with this turn of the event loop, if it has written nothing by then. */
  isBrief = false
  /** Whether it was kept and is on disk, or its group has failed. */
  isSettled = false
  readonly granted: () => void
  readonly #parts: SessionParts
  readonly #lost: (error: unknown) => void

  constructor(parts: SessionParts, events: SessionEvents, reserve: boolean) {
    this.reserve = reserve
    this.granted = events.granted
    this.#parts = parts
    this.#lost = events.lost
  }

  get hasWritten(): boolean {
    return this.enqueued || this.endedJob || this.holds || this.numbered || this.touched.size > 0
  }

  wrote(entry: StorageEntry, guid: string | undefined): void {
    const guids = this.touched.get(entry) ?? []
    this.touched.set(entry, guids)
    // Also while no caller asks for stamps: a caller that first asks before this commit has read the state before it.
    if (guid !== undefined) guids.push(guid)
  }

  /** It has given the turn to the next one, which sees its writes. */
  ended(): void {
    for (const entry of this.touched.keys()) {
      entry.kept += 1
      entry.unsaved += 1
    }
  }

  lost(error: unknown): void {
    this.undone()
    this.#lost(error)
  }

  settled(error: unknown): void {
    this.isSettled = true
    for (const entry of this.touched.keys()) {
      entry.unsaved -= 1
      if (error !== undefined) entry.kept += 1
    }
    if (error !== undefined) {
      this.undone()
      return
    }
    for (const [entry, guids] of this.touched) {
      this.#parts.catalogue.written(entry.name)
      entry.written?.written(guids)
      followCommit(this.#parts, entry)
    }
    if (this.enqueued) this.#parts.jobs.wake()
  }

  /** In memory a shape is only ever widened; what is no longer in the database has to be written again. */
  undone(): void {
    for (const entry of this.widened) entry.shapeSaved = false
  }
}
