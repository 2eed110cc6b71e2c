import type { Timers } from '../../../shared/clock.ts'
import type { Origin } from '../../database.ts'
import { TextTotals, together } from '../text/sqlite-text-index.ts'
import type { Ballast } from './ballast.ts'
import { type CacheParts, followCommit } from './sqlite-catalogue.ts'
import { numberOf, type SqliteConnection } from './sqlite-connection.ts'
import { isFull } from './sqlite-errors.ts'
import type { StorageEntry } from './storage-entry.ts'

/** What one session writes between two of its commits, as the writer has it. */
export interface Segment {
  /** See `Origin.isLong`. */
  readonly isLong?: boolean
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
  readonly segments: Segment[] = []
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
    return together(holder ? [...this.segments, holder] : this.segments)
  }

  committed(): void {
    for (const segment of this.segments) segment.settled(undefined)
    this.#resolve()
  }

  failed(error: unknown): void {
    for (const segment of this.segments) segment.settled(error)
    this.#reject(error)
  }
}

interface Waiting {
  /** undefined: a turn without a segment. */
  readonly segment: Segment | undefined
  readonly turn: () => void
  readonly reject: (error: unknown) => void
}

/** Milliseconds in which sessions follow each other before all else in this process has its turn. */
const LONGEST_TURN = 10

/** Those that wait for their turn with the writer, in the order in which they came. */
export class WriterLine {
  #waiting: Waiting[] = []
  /** When the first one had its turn in this turn of the event loop. */
  #began: number | undefined
  #rests = false

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting)
  }

  /**
   * One follows the other without a turn of the event loop between them, however many wait. False
   * where the next one is to wait for that turn; `again` is called in it.
   */
  mayGoOn(timers: Pick<Timers, 'soon'>, again: () => void): boolean {
    if (this.isEmpty) return true
    const now = performance.now()
    if (this.#began === undefined) {
      this.#began = now
      timers.soon(() => {
        const rested = this.#rests
        this.#began = undefined
        this.#rests = false
        if (rested) again()
      })
    }
    this.#rests ||= now - this.#began >= LONGEST_TURN
    return !this.#rests
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

// How large the database may become while the disk is full, when its ballast was given away (ballast.ts). From the next
// transaction on it may not grow until there is room: what changes documents in the pages that are there goes on. Deletes,
// with their records in the history and the audit log, and sign-ins may take some of what was given away.

/** SQLite's own, 16 TiB. */
const MAX_PAGES = 4_294_967_294

export class GrowthLimit {
  readonly #connection: SqliteConnection
  readonly #ballast: Ballast | undefined
  /** While the disk is full: the pages beyond which the database may not grow, and may with the reserve. */
  #bounds: { readonly pages: number; readonly reserve: number } | undefined
  #allowed = MAX_PAGES

  constructor(connection: SqliteConnection, ballast: Ballast | undefined) {
    this.#connection = connection
    this.#ballast = ballast
  }

  /** Between two transactions, because within one the database has grown already. */
  follow(): void {
    const full = this.#ballast?.full ?? false
    if (full === (this.#bounds !== undefined)) return
    this.#bounds = full ? this.#boundsNow() : undefined
    this.#allow(this.#bounds?.pages ?? MAX_PAGES)
  }

  /** Before an operation: whether it may take from the reserve. */
  applyTo(mayTakeReserve: boolean): void {
    if (this.#bounds) this.#allow(mayTakeReserve ? this.#bounds.reserve : this.#bounds.pages)
  }

  /** An error of SQLite: of a full disk the ballast hears. */
  note(error: unknown): void {
    if (this.#ballast && !this.#ballast.full && isFull(error)) this.#ballast.giveAway()
  }

  #boundsNow(): { pages: number; reserve: number } {
    const pages = numberOf(this.#connection.get('PRAGMA page_count') ?? {}, 'page_count')
    const size = numberOf(this.#connection.get('PRAGMA page_size') ?? {}, 'page_size')
    return { pages, reserve: pages + Math.floor((this.#ballast?.spare ?? 0) / size) }
  }

  /** SQLite takes what is there for the bound where it is more. */
  #allow(pages: number): void {
    if (pages === this.#allowed) return
    this.#connection.exec(`PRAGMA max_page_count = ${pages}`)
    this.#allowed = pages
  }
}

/** What a session's segment asks of all that sessions share: see `session-parts.ts`. */
interface SegmentParts extends CacheParts {
  readonly jobs: { wake(): void }
}

interface SessionEvents {
  granted(): void
  lost(error: unknown): void
}

/** What a session writes between two commits, and what has to be set right when it is on disk or gone. */
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
  readonly isLong: boolean
  readonly granted: () => void
  readonly #parts: SegmentParts
  readonly #lost: (error: unknown) => void

  constructor(
    parts: SegmentParts,
    events: SessionEvents,
    { reserve, isLong }: Pick<Origin, 'reserve' | 'isLong'>,
  ) {
    this.reserve = reserve ?? false
    this.isLong = isLong ?? false
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
      entry.revision += 1
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
      if (error !== undefined) entry.revision += 1
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
