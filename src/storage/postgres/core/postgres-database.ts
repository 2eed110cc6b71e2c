/** PostgreSQL, for any number of nodes. */
import { QuoinError } from '../../../shared/errors.ts'
import {
  type Capabilities,
  type Changes,
  type DatabaseFigures,
  type Indexes,
  isLeader,
} from '../../capabilities.ts'
import type { Observer, Origin, Session } from '../../database.ts'
import type { Index, Needs } from '../../document-index.ts'
import { addObserver } from '../../observers.ts'
import { storageNameProblem } from '../../system-storages.ts'
import { keepsRules, type RawDatabase } from '../../validated.ts'
import { openReadCache, type ReadCache } from '../cache/open-read-cache.ts'
import { unexpectedTypeIndex } from '../sql/field-sql.ts'
import { searchedStorage } from '../sql/postgres-search-advice.ts'
import { readPreparations } from '../text/fill-tokens.ts'
import { postgresUniqueKeys } from '../unique/make-unique.ts'
import { isToMove, moveToColumns } from './move-to-columns.ts'
import type { PostgresPool } from './postgres-connection.ts'
import { changing, dropStorage, ensureStorage, isEnsured } from './postgres-ensure.ts'
import { dropStatistics, planIndex } from './postgres-indexes.ts'
import { openPostgresParts, type PostgresOptions, type PostgresParts } from './postgres-parts.ts'
import { PostgresSession, type SessionParts } from './postgres-session.ts'
import { numberOf, type Row } from './rows.ts'

/** The log is told to members of `pg_monitor` only. */
const asked = `
  SELECT pg_database_size(current_database()) AS size, xact_commit AS commits, blks_hit AS hits, blks_read AS misses,
    CASE WHEN has_function_privilege('pg_ls_waldir()', 'execute')
      THEN (SELECT sum(size) FROM pg_ls_waldir())::int8 END AS log
  FROM pg_stat_database WHERE datname = current_database()`

async function postgresFigures(pool: PostgresPool): Promise<DatabaseFigures> {
  const [row = {}] = await pool.reading.rows(asked)
  return {
    sizeBytes: numberOf(row, 'size'),
    freeBytes: 0,
    logBytes: logOf(row),
    commits: numberOf(row, 'commits'),
    connections: pool.connections(),
    cache: { hits: numberOf(row, 'hits'), misses: numberOf(row, 'misses') },
  }
}

function logOf(row: Row): number | null {
  return row.log === null ? null : numberOf(row, 'log')
}

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
  readonly #cache: ReadCache
  readonly #sessionParts: SessionParts
  readonly #changes = new Set<Promise<unknown>>()
  #closed: Promise<void> | undefined
  #moving: NodeJS.Timeout | undefined

  constructor(parts: PostgresParts, options: PostgresOptions) {
    this.#parts = parts
    this.#cache = openReadCache(parts, options, (work) => this.#change(work))
    const { totals, aggregates, words } = this.#cache
    this.#sessionParts = { ...parts, totals, aggregates, words }
    const { withClusterLock: alone, cluster, jobs, queues } = parts
    this.capabilities = {
      engine: 'postgres',
      indexes: this.#indexes(),
      uniqueValues: postgresUniqueKeys(this.#parts, (work) => this.#during(work)),
      changes: this.#following(),
      readVersions: this.#cache.versions,
      cluster,
      withClusterLock: alone,
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
      if (!catalogue.all().some(isToMove) || !(await isLeader(this.capabilities))) return
      isOver = await moveToColumns(this.#parts, goesOn)
    }
    const again = () => {
      if (!goesOn()) return
      const later = () => {
        this.#moving = setTimeout(again, isOver ? MOVE_MS : MOVE_AGAIN_MS).unref()
      }
      this.#behind(move(), report).then(later, later)
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
    this.#closed ??= Promise.allSettled([...this.#changes, this.#cache.close()]).then(() =>
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
      release: (name, requested) => this.#change(() => releaseIndexes(this.#parts, name, requested)),
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
    return this.#during(() => this.#parts.withClusterLock('catalogue', change))
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

// Drops the indexes that no search needs any more. First all nodes stop relying on them, then they are dropped CONCURRENTLY,
// so no reader or writer waits. A crash between the two leaves an unused index; a search that needs it uses it again.

/** Drops those that are neither unique nor among `requested`. Only within `parts.alone`. */
async function releaseIndexes(
  parts: PostgresParts,
  name: string,
  requested: readonly Index[],
): Promise<void> {
  await parts.catalogue.reload()
  const entry = parts.catalogue.find(name)
  if (entry === undefined) return
  const keep = new Set(requested.map((index) => planIndex(entry, index)?.name))
  const remains = ([indexName, { unique }]: readonly [string, Index]) => unique || keep.has(indexName)
  const gone = [...entry.indexes].filter((index) => !remains(index))
  if (gone.length === 0) return
  const names = gone.map(([indexName]) => indexName)
  await changing(parts, (transaction) =>
    transaction.run('DELETE FROM storage_index WHERE storage = $1 AND name = ANY ($2::text[])', [
      entry.id,
      names,
    ]),
  )
  // The index of a field's odd values serves all indexes over the field.
  const fieldsOf = (indexes: readonly (readonly [string, Index])[]) =>
    indexes.flatMap(([, { fields }]) => fields)
  const remaining = fieldsOf([...entry.indexes].filter(remains))
  const left = [...new Set(fieldsOf(gone))].filter((field) => !remaining.includes(field))
  const unusualNames = (fields: readonly string[]) =>
    new Set(fields.flatMap((field) => unexpectedTypeIndex(entry.table, field, entry.columns)?.name ?? []))
  const beside = unusualNames(left).difference(unusualNames(remaining))
  for (const one of [...names, ...beside])
    await parts.pool.lasting.run(`DROP INDEX CONCURRENTLY IF EXISTS ${one}`)
  if (entry.columns.size === 0) await dropStatistics(parts.pool.lasting, entry.table)
}
