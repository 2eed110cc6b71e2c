/** PostgreSQL, for any number of nodes. */
import { QuoinError } from '../../../shared/errors.ts'
import type { Capabilities, Changes, Indexes } from '../../capabilities.ts'
import { type Observer, type Origin, type Session, storageNameProblem } from '../../database.ts'
import type { Needs } from '../../document-index.ts'
import { leads } from '../../leading-node.ts'
import { addObserver } from '../../observers.ts'
import { keepsRules, type RawDatabase } from '../../ruled.ts'
import { postgresFigures } from '../figures/postgres-figures.ts'
import { type Kept, openKept } from '../kept/open-kept.ts'
import { searchedStorage } from '../sql/postgres-search-advice.ts'
import { readPreparations } from '../text/fill-tokens.ts'
import { postgresUniqueKeys } from '../unique/postgres-unique-keys.ts'
import { isToMove, moveToColumns } from './move-to-columns.ts'
import { dropStorage, ensureStorage, isEnsured } from './postgres-ensure.ts'
import { openPostgresParts, type PostgresOptions, type PostgresParts } from './postgres-parts.ts'
import { releaseIndexes } from './postgres-release.ts'
import { PostgresSession, type SessionParts } from './postgres-session.ts'

/** How often a node looks whether a storage has to be moved to key columns: after an index on documents, or an upgrade. */
const MOVE_MS = 60_000
/** And again after others had locked the storage, as writers without a pause do. */
const MOVE_AGAIN_MS = 1_000

/** Throws UNAVAILABLE when the database does not answer, is not fit, or was made by a newer Quoin. */
export async function openPostgresDatabase(options: PostgresOptions): Promise<RawDatabase> {
  const database = new PostgresDatabase(await openPostgresParts(options), options)
  if (!options.filling) database.complete(options.report)
  return database
}

class PostgresDatabase implements RawDatabase {
  readonly [keepsRules] = false
  readonly capabilities: Capabilities
  readonly #parts: PostgresParts
  readonly #kept: Kept
  readonly #sessionParts: SessionParts
  readonly #changes = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined
  #moving: NodeJS.Timeout | undefined

  constructor(parts: PostgresParts, options: PostgresOptions) {
    this.#parts = parts
    this.#kept = openKept(parts, options, (work) => this.#change(work))
    const { totals, aggregates, words } = this.#kept
    this.#sessionParts = { ...parts, totals, aggregates, words }
    const { alone, cluster, jobs, queues } = parts
    this.capabilities = {
      engine: 'postgres',
      indexes: this.#indexes(),
      uniqueValues: postgresUniqueKeys(this.#parts, (work) => this.#during(work)),
      changes: this.#following(),
      readVersions: this.#kept.versions,
      cluster,
      alone,
      jobs,
      queues,
      figures: () => postgresFigures(parts.pool),
    }
  }

  /** Begins to move indexes to key columns. Nothing waits for it. */
  complete(report: PostgresOptions['report']): void {
    const { catalogue } = this.#parts
    const goesOn = () => this.#closed === undefined
    let isOver = true
    const move = async () => {
      isOver = true
      if (!catalogue.all().some(isToMove) || !(await leads(this.capabilities))) return
      isOver = await moveToColumns(this.#parts, goesOn)
    }
    const again = () => {
      if (!goesOn()) return
      this.#behind(move(), report).then(() => {
        this.#moving = setTimeout(again, isOver ? MOVE_MS : MOVE_AGAIN_MS).unref()
      })
    }
    again()
  }

  /** Nothing waits for it but the end. */
  #behind(work: Promise<void>, report: PostgresOptions['report']): Promise<void> {
    const done = work.catch((error: unknown) => report?.(error)).finally(() => this.#changes.delete(done))
    this.#changes.add(done)
    return done
  }

  async ensure(name: string, needs: Needs = {}): Promise<void> {
    const problem = storageNameProblem(name)
    if (problem) throw new QuoinError('INVALID_BODY', `The storage name ${JSON.stringify(name)} ${problem}.`)
    this.#refuseClosed()
    if (isEnsured(this.#parts.catalogue.find(name), needs)) return
    await this.#change(() => ensureStorage(this.#parts, name, needs))
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
    return new PostgresSession(this.#sessionParts, origin)
  }

  observe(name: string, observer: Observer): () => void {
    return addObserver(this.#parts.observers, name, observer)
  }

  close(): Promise<void> {
    clearTimeout(this.#moving)
    this.#closed ??= Promise.allSettled([...this.#changes, this.#kept.close()]).then(() =>
      this.#parts.close(),
    )
    return this.#closed
  }

  #indexes(): Indexes {
    const { catalogue, advisor, pool } = this.#parts
    return {
      of(name) {
        const entry = catalogue.find(name)
        return entry ? searchedStorage(entry) : { indexes: [], text: false }
      },
      release: (name, wanted) => this.#change(() => releaseIndexes(this.#parts, name, wanted)),
      slow(name) {
        const entry = catalogue.find(name)
        return entry ? advisor.of(entry.table, searchedStorage(entry)) : []
      },
      preparing: () => readPreparations(pool.reading),
    }
  }

  #following(): Changes {
    const { catalogue, cluster } = this.#parts
    return {
      watch: (name, watcher) =>
        cluster.watch(name, (guids) => {
          catalogue.written(name)
          return watcher(guids)
        }),
      version: (name) => catalogue.version(name),
    }
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#during(() => this.#parts.alone('catalogue', change))
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    this.#refuseClosed()
    const done = work()
    this.#changes.add(done)
    try {
      return await done
    } finally {
      this.#changes.delete(done)
    }
  }

  #refuseClosed(): void {
    if (this.#closed) throw new QuoinError('UNAVAILABLE', 'The storage is being closed.')
  }
}
