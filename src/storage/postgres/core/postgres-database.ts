/** PostgreSQL, for any number of nodes. */
import { QuoinError } from '../../../shared/errors.ts'
import type { Cluster, Watcher } from '../../cluster.ts'
import {
  type Database,
  type Needs,
  type Observer,
  type Origin,
  type Preparation,
  type Session,
  storageNameProblem,
} from '../../database.ts'
import type { Index } from '../../document-index.ts'
import type { Jobs } from '../../job.ts'
import { addObserver } from '../../observers.ts'
import type { SlowSearch } from '../../search/search-advisor.ts'
import { searchedStorage } from '../sql/postgres-search-advice.ts'
import { readPreparations } from '../text/fill-tokens.ts'
import { dropStorage, ensureStorage, isEnsured } from './postgres-ensure.ts'
import { openPostgresParts, type PostgresOptions, type PostgresParts } from './postgres-parts.ts'
import { releaseIndexes } from './postgres-release.ts'
import { PostgresSession } from './postgres-session.ts'
import { completeStatistics } from './postgres-statistics.ts'

/** Throws UNAVAILABLE when the database does not answer, is not fit, or was made by a newer Quoin. */
export async function openPostgresDatabase(options: PostgresOptions): Promise<Database> {
  const database = new PostgresDatabase(await openPostgresParts(options))
  if (!options.filling) database.complete(options.report)
  return database
}

class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly jobs: Jobs
  readonly cluster: Cluster
  readonly #parts: PostgresParts
  readonly #changes = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined

  constructor(parts: PostgresParts) {
    this.#parts = parts
    this.jobs = parts.jobs
    this.cluster = parts.cluster
  }

  /** Begins to make what a database of an older version lacks. Nothing waits for it. */
  complete(report: PostgresOptions['report']): void {
    const { pool, catalogue } = this.#parts
    const done = completeStatistics(pool, catalogue.all(), () => this.#closed === undefined)
      .catch((error: unknown) => report?.(error))
      .finally(() => this.#changes.delete(done))
    this.#changes.add(done)
  }

  async ensure(name: string, needs: Needs = {}): Promise<void> {
    const problem = storageNameProblem(name)
    if (problem) throw new QuoinError('INVALID_BODY', `The storage name ${JSON.stringify(name)} ${problem}.`)
    this.#refuseClosed()
    if (isEnsured(this.#parts.catalogue.find(name), needs)) return
    await this.#change(() => ensureStorage(this.#parts, name, needs))
  }

  release(name: string, kept: readonly Index[]): Promise<void> {
    return this.#change(() => releaseIndexes(this.#parts, name, kept))
  }

  drop(name: string): Promise<void> {
    return this.#change(() => dropStorage(this.#parts, name))
  }

  has(name: string): boolean {
    return this.#parts.catalogue.find(name) !== undefined
  }

  names(): readonly string[] {
    return this.#parts.catalogue.names()
  }

  session(origin: Origin = {}): Session {
    return new PostgresSession(this.#parts, origin)
  }

  observe(name: string, observer: Observer): () => void {
    return addObserver(this.#parts.observers, name, observer)
  }

  watch(name: string, watcher: Watcher): () => void {
    const { catalogue, cluster } = this.#parts
    return cluster.watch(name, (guids) => {
      catalogue.written(name)
      return watcher(guids)
    })
  }

  /** Another node may just have written. */
  stamp(): undefined {
    return undefined
  }

  version(name: string): number {
    return this.#parts.catalogue.version(name)
  }

  kept(name: string): Required<Needs> {
    const entry = this.#parts.catalogue.find(name)
    return entry ? searchedStorage(entry) : { indexes: [], text: false }
  }

  slowSearches(name: string): readonly SlowSearch[] {
    const entry = this.#parts.catalogue.find(name)
    return entry ? this.#parts.advisor.of(entry.table, searchedStorage(entry)) : []
  }

  preparing(): Promise<readonly Preparation[]> {
    return readPreparations(this.#parts.pool.reading)
  }

  alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#parts.alone(key, work)
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#changes).then(() => this.#parts.close())
    return this.#closed
  }

  async #change(change: () => Promise<void>): Promise<void> {
    this.#refuseClosed()
    const done = this.#parts.alone('catalogue', change)
    this.#changes.add(done)
    try {
      await done
    } finally {
      this.#changes.delete(done)
    }
  }

  #refuseClosed(): void {
    if (this.#closed) throw new QuoinError('UNAVAILABLE', 'The storage is being closed.')
  }
}
