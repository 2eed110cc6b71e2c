/**
 * Versions of what was read on PostgreSQL, where other nodes write too: a node asks what was written since its last snapshot
 * (`change-log.ts`), once for all requests of one turn of the event loop, and raises the versions of that. So a reply that is
 * kept is as new as one that is read: its request has asked the database a question after it came, only a smaller one.
 *
 * A version is looked up before the read: a write between the last snapshot and the read only makes it be read once more.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Read, ReadVersion, ReadVersions } from '../../capabilities.ts'
import { WrittenDocuments } from '../../written-documents.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { LATEST_MS, type LaterWrites, laterWrites, OLDEST_MS } from './change-log.ts'

export interface ReadVersionsParts {
  readonly reading: PostgresConnection
  readonly clocks: LeaseClocks
  /** A storage of that name; `noted`: whether all writes to it are noted. */
  readonly find: (storage: string) => { readonly id: number; readonly noted: boolean } | undefined
  /** Someone would keep what was read of a storage whose writes are not noted. */
  readonly requestTracking: (storage: string) => void
  /** The notes were lost, and are to begin another epoch. */
  readonly startEpoch: () => Promise<void>
}

interface Base {
  readonly snapshot: string
  readonly epoch: string
  readonly at: Instant
}

interface StorageVersions {
  any: number
  readonly documents: WrittenDocuments
}

/** Questions under way. One more would hardly be answered sooner than the next that is free. */
const MOST_AT_ONCE = 3
/** Where so much is written, or a transaction is open for so long, that asking costs more than reading. */
const PAUSE_MS = 5_000
const BUSY_MS = 1_000

export class PostgresReadVersions implements ReadVersions {
  readonly #parts: ReadVersionsParts
  readonly #storages = new Map<number, StorageVersions>()
  readonly #underWay = new Set<Promise<boolean>>()
  /** The question that is about to be asked. */
  #gathered: Promise<boolean> | undefined
  #base: Base | undefined
  #pausedSince: Instant | undefined
  /** Raised when all versions are forgotten: the answer to a question of before does not count. */
  #resets = 0
  #last = 0
  readonly #next = () => ++this.#last

  constructor(parts: ReadVersionsParts) {
    this.#parts = parts
  }

  of(storage: string, read?: Read): ReadVersion {
    return () => this.#version(storage, read)
  }

  readonly catchUp = (): Promise<boolean> => {
    if (this.#isPaused()) return Promise.resolve(false)
    this.#gathered ??= this.#gather()
    return this.#gathered
  }

  /** All versions are others from now on: the database may be another one. */
  forget(): void {
    this.#storages.clear()
    this.#base = undefined
    this.#resets += 1
  }

  #version(storage: string, read: Read | undefined): unknown {
    const entry = this.#parts.find(storage)
    if (entry === undefined) return undefined
    if (!entry.noted) {
      this.#parts.requestTracking(storage)
      return undefined
    }
    if (this.#base === undefined || this.#isPaused()) return undefined
    const versions = this.#versionsOf(entry.id)
    return read !== undefined && 'guid' in read ? versions.documents.version(read.guid) : versions.any
  }

  #versionsOf(id: number): StorageVersions {
    const known = this.#storages.get(id)
    if (known) return known
    const made = { any: this.#next(), documents: new WrittenDocuments(this.#next) }
    this.#storages.set(id, made)
    return made
  }

  #isPaused(): boolean {
    return this.#pausedSince !== undefined && this.#age(this.#pausedSince) < PAUSE_MS
  }

  #age(at: Instant): number {
    return millisecondsSince(at, this.#parts.clocks)
  }

  async #gather(): Promise<boolean> {
    await nextTurn()
    while (this.#underWay.size >= MOST_AT_ONCE) await Promise.race(this.#underWay)
    this.#gathered = undefined
    if (this.#base && this.#age(this.#base.at) >= OLDEST_MS) this.forget()
    const asked = this.#ask(this.#base).catch(() => false)
    this.#underWay.add(asked)
    const isKnown = await asked
    this.#underWay.delete(asked)
    return isKnown
  }

  async #ask(since: Base | undefined): Promise<boolean> {
    const at = instantOf(this.#parts.clocks)
    const resets = this.#resets
    const later = await laterWrites(this.#parts.reading, since?.snapshot)
    if (resets !== this.#resets) return false
    if (since && this.#age(since.at) >= LATEST_MS) {
      this.forget()
      return false
    }
    const { epoch, snapshot } = later
    if (epoch === undefined) {
      this.forget()
      await this.#parts.startEpoch()
      return false
    }
    this.#learn(later, since?.epoch === epoch ? since : undefined, at)
    // Since the older of two snapshots more would be told, and nothing be missed.
    this.#base = { snapshot, epoch, at }
    return true
  }

  /** `since`: undefined where not all that was written is told. */
  #learn({ written }: LaterWrites, since: Base | undefined, at: Instant): void {
    if (since === undefined) this.forget()
    else if (written === 'too many') {
      if (this.#age(since.at) < BUSY_MS) this.#pausedSince = at
      this.forget()
    } else for (const [id, guid] of written) this.#written(this.#storages.get(id), guid)
  }

  /** Nothing was asked of the other storages since the last snapshot. */
  #written(versions: StorageVersions | undefined, guid: string): void {
    if (versions === undefined) return
    versions.any = this.#next()
    versions.documents.written([guid])
  }
}
