/** The words of one storage in memory, which follow what is written to it by any node. */
import { runCooperatively } from '../../../shared/cooperative.ts'
import type { Search } from '../../../shared/query.ts'
import { nextMode, type Transitions } from '../../../shared/state-machine.ts'
import { wordOf } from '../../ranking/postings.ts'
import type { RankedPhrase } from '../../search/rank-text.ts'
import { LATEST_MS, OLDEST_MS } from '../cache/change-log.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import type { Snapshot } from '../sql/search-target.ts'
import { PostingLists } from './posting-lists.ts'
import { rankInMemory } from './rank-in-memory.ts'
import { currentSnapshot, documentsBehind, documentsSince, readPhrase, textsOf } from './read-texts.ts'

/** Of documents that are read at once with their words: some 10 ms. One alone may have 65,000. */
const DOCUMENTS = 100
const TOKENS = 20_000

/** Guids of documents that are read together, by how many tokens each document has. */
export function* writtenBatches(tokensOf: ReadonlyMap<string, number>): Generator<readonly string[]> {
  let batch: string[] = []
  let held = 0
  for (const [guid, tokens] of tokensOf) {
    if (batch.length >= DOCUMENTS || (batch.length > 0 && held + tokens > TOKENS)) {
      yield batch
      batch = []
      held = 0
    }
    batch.push(guid)
    held += tokens
  }
  if (batch.length > 0) yield batch
}

export interface IncrementalTextIndexParts {
  readonly pool: Pick<PostgresPool, 'reading' | 'snapshot'>
  readonly clocks: LeaseClocks
  readonly startEpoch: () => Promise<void>
}

/** Read in one statement: some 5 ms. */
const SLICE = 2_000
/** More than so many are not worth bringing in one by one. */
const MOST_WRITTEN = 4_000
/** While documents are read. */
const CATCH_UP_MS = 10_000
/** Phrases that wait to be read. */
const MOST_WAITING = 512

type Mode = 'new' | 'reading' | 'following' | 'lost'

/** `reading`: the documents. `lost`: what was written is no longer known, and the memory answers nothing until it is made again. */
const transitions: Transitions<Mode> = {
  new: ['reading', 'lost'],
  reading: ['following', 'lost'],
  following: ['lost'],
  lost: [],
}

export class IncrementalTextIndex {
  readonly memory = new PostingLists()
  readonly #entry: StorageEntry
  readonly #parts: IncrementalTextIndexParts
  /** Of which the memory is, once documents are read; undefined until it is known. */
  moment: Snapshot | undefined
  #at: Instant
  #mode: Mode = 'new'
  /** From when on the mode is `lost`. */
  #lostAt: Instant | undefined
  /** Something was written since {@link moment}. */
  #isOutdated = false
  #catchingUp: Promise<void> | undefined
  /** By word: those that are to be read. */
  readonly #waiting = new Map<string, RankedPhrase>()
  #reading: Promise<void> | undefined

  constructor(entry: StorageEntry, parts: IncrementalTextIndexParts) {
    this.#entry = entry
    this.#parts = parts
    this.#at = instantOf(parts.clocks)
  }

  /** For how many milliseconds it has not followed any more; undefined: it does. */
  get lostFor(): number | undefined {
    return this.#lostAt && millisecondsSince(this.#lostAt, this.#parts.clocks)
  }

  get #isLost(): boolean {
    return this.#mode === 'lost'
  }

  /** Something was written since that moment. */
  outdated(moment: Snapshot): void {
    if (moment === this.moment) this.#isOutdated = true
  }

  /** Whether the memory can be asked now, in this turn. Catches up where it is known to be behind. */
  async isCurrent(): Promise<boolean> {
    try {
      const isBehind = this.#isOutdated || this.memory.isDoubtful
      if (this.#mode === 'following' && isBehind) await this.catchUp()
      await this.#catchingUp
    } catch {
      // It is lost, and the one that caught up has told why.
    }
    return this.#mode === 'following' && millisecondsSince(this.#at, this.#parts.clocks) < OLDEST_MS
  }

  /**
   * Reads what was written, as this connection sees it, whose first statement this is: it sees one state of the database, which is
   * later than all that the memory was told of. Gives the moment, with which the memory can be asked now, in this turn; undefined: it is lost.
   */
  async catchUpOn(connection: PostgresConnection): Promise<Snapshot | undefined> {
    while (this.#catchingUp) await this.#catchingUp.catch(() => undefined)
    await this.#begin(connection)
    return this.#isLost ? undefined : this.moment
  }

  /** Reads the documents once, and the words of this search that are missing. */
  async read(search: Search): Promise<void> {
    if (this.#mode === 'new') {
      this.#go('reading')
      await this.#lostOnError(() => this.#readDocuments())
    }
    const missing = await this.#missing(search)
    for (const phrase of missing)
      if (this.#waiting.size < MOST_WAITING && !this.memory.has(phrase))
        this.#waiting.set(wordOf(phrase), phrase)
    if (missing.length === 0) return
    this.#reading ??= this.#readWaiting().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  /** Also none where the memory cannot be asked. */
  async #missing(search: Search): Promise<readonly RankedPhrase[]> {
    if (!(await this.isCurrent())) return []
    const ranked = rankInMemory(this.memory, search, 1)
    return ranked && 'phrases' in ranked ? ranked.phrases : []
  }

  /** Reads what was written. Once for all who ask meanwhile. */
  async catchUp(): Promise<void> {
    await (this.#catchingUp ?? this.#begin(this.#parts.pool.reading))
  }

  #begin(connection: PostgresConnection): Promise<void> {
    const catchingUp = this.#lostOnError(() => this.#catchUp(connection)).finally(() => {
      this.#catchingUp = undefined
    })
    this.#catchingUp = catchingUp
    return catchingUp
  }

  async #readDocuments(): Promise<void> {
    const { pool, startEpoch } = this.#parts
    const at = instantOf(this.#parts.clocks)
    this.moment = await currentSnapshot(pool.reading)
    if (this.moment === undefined) {
      await startEpoch()
      this.moment = await currentSnapshot(pool.reading)
    }
    this.#at = at
    if (this.moment === undefined) this.#lose()
    for (let behind = ''; !this.#isLost; ) {
      const slice = await documentsBehind(pool.reading, this.#entry, behind, SLICE)
      if (!this.memory.note(slice)) this.#lose()
      if (slice.length < SLICE) break
      behind = slice.at(-1)?.guid ?? ''
      if (millisecondsSince(this.#at, this.#parts.clocks) > CATCH_UP_MS) await this.catchUp()
    }
    await this.catchUp()
    if (!this.#isLost) this.#go('following')
  }

  async #readWaiting(): Promise<void> {
    for (const [word, phrase] of this.#waiting) {
      const rows = this.memory.expect(phrase)
      try {
        await this.#parts.pool.snapshot((connection) => readPhrase(connection, this.#entry, phrase, rows))
        rows.keep()
      } catch (error) {
        rows.giveUp()
        throw error
      } finally {
        this.#waiting.delete(word)
      }
    }
  }

  async #catchUp(connection: PostgresConnection): Promise<void> {
    const { moment, memory } = this
    if (moment === undefined || this.#isLost) return
    const { clocks } = this.#parts
    const at = instantOf(clocks)
    const later = await documentsSince(connection, this.#entry, moment)
    // Notes may have been forgotten while the statement waited.
    const isReported = later !== undefined && millisecondsSince(this.#at, clocks) < LATEST_MS
    const documents = new Map([...memory.doubtful, ...(later?.documents ?? [])])
    if (!isReported || documents.size > MOST_WRITTEN) return this.#lose()
    for (const guids of writtenBatches(documents)) {
      const written = await textsOf(connection, this.#entry, guids)
      if (!(await runCooperatively(memory.apply(written)))) return this.#lose()
    }
    this.moment = later.moment
    this.#at = at
    this.#isOutdated = false
  }

  async #lostOnError(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#lose()
      throw error
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#waiting.clear()
    this.#lose()
  }

  #lose(): void {
    if (this.#isLost) return
    this.#go('lost')
    this.#lostAt = instantOf(this.#parts.clocks)
  }

  #go(to: Mode): void {
    this.#mode = nextMode('The memory of words', transitions, this.#mode, to)
  }
}
