/**
 * The embedded engine for a process that only reads, beside the one that writes. Storages are made, and indexes, before
 * it opens or by the other process; what it finds missing it does not make.
 */
import { join } from 'node:path'
import { QuoinError } from '../../../shared/errors.ts'
import { oneAtATime } from '../../../shared/one-at-a-time.ts'
import type { Capabilities, Changes, ReadVersions } from '../../capabilities.ts'
import type { Cluster } from '../../cluster.ts'
import type { Origin, Session } from '../../database.ts'
import type { Jobs, Queues } from '../../job.ts'
import { keepsRules, type RuledDatabase } from '../../ruled.ts'
import { WriteRefused } from '../../write-refused.ts'
import { searchCache } from '../cache/search-cache.ts'
import { guarded, SqliteConnection } from '../core/sqlite-connection.ts'
import { DamagedDatabase, storageError } from '../core/sqlite-errors.ts'
import { fileOf, sqliteFigures } from '../figures/sqlite-figures.ts'
import { registerSearchFunctions } from '../sql/search-functions.ts'
import { SearchThread } from '../sql/search-thread.ts'
import { ReaderCatalogue } from './reader-catalogue.ts'
import { ReaderSession } from './reader-session.ts'
import { holdReadersLock } from './readers-lock.ts'

/** What the process that writes tells this one. */
export interface Following extends Changes {
  readonly cluster: Cluster
}

export interface ReaderOptions {
  readonly directory: string
  readonly following: Following
  /** Told of each write of a session that was refused: the work itself may catch the error. */
  readonly refused?: (origin: Origin) => void
  /** Told once when the database was found damaged, with what SQLite says: the process that writes must not go on. */
  readonly damaged?: (reason: string) => void
}

/** Throws UNAVAILABLE when a writer is just beginning. */
export function openReaderDatabase({ directory, following, refused, damaged }: ReaderOptions): RuledDatabase {
  const unlock = holdReadersLock(directory)
  let isDamaged = false
  const failed = (error: unknown) => {
    if (!(error instanceof DamagedDatabase) || isDamaged) return
    isDamaged = true
    damaged?.(error.reason)
  }
  try {
    const path = join(directory, 'quoin.db')
    const connection = new SqliteConnection({
      path,
      readOnly: true,
      synchronous: 'FULL',
    })
    registerSearchFunctions(connection)
    const catalogue = new ReaderCatalogue(connection)
    const thread = new SearchThread(path, failed)
    const parts = {
      connection,
      thread,
      catalogue,
      results: searchCache(),
      refused: refused ?? (() => undefined),
      failed,
    }
    const file = fileOf(connection)
    return {
      // It writes nothing, so no rule is broken.
      [keepsRules]: true,
      async ensure(name) {
        if (!catalogue.has(name))
          throw new QuoinError('INTERNAL', `The storage ${name} is not there, and this process only reads.`)
      },
      async drop() {
        refuse()
      },
      has: (name) => guarded(() => catalogue.has(name), failed),
      names: () => guarded(() => catalogue.names(), failed),
      session: (origin: Origin = {}): Session => new ReaderSession(parts, origin),
      // Nothing is written here that could be observed.
      observe: () => () => undefined,
      capabilities: {
        ...readerCapabilities(following, readerVersions(catalogue, failed)),
        figures: () => sqliteFigures(file, 0, { ...parts.results.uses }),
      },
      async close() {
        await thread.close()
        connection.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    const told = storageError(error)
    failed(told)
    throw told
  }
}

function readerCapabilities(following: Following, readVersions: ReadVersions): Omit<Capabilities, 'figures'> {
  return {
    engine: 'sqlite',
    indexes: {
      of: () => ({ indexes: [], text: false }),
      async release() {
        refuse()
      },
      slow: () => [],
      preparing: async () => [],
    },
    uniqueValues: {
      of: () => [],
      unfinished: () => [],
      async keep() {
        refuse()
      },
      async drop() {
        refuse()
      },
    },
    changes: following,
    readVersions,
    cluster: following.cluster,
    alone: oneAtATime(),
    jobs: refusedJobs(),
    queues: refusedQueues(),
  }
}

/** A version of anything in the storage is what the writer raises with each commit to it. */
function readerVersions(catalogue: ReaderCatalogue, failed: (error: unknown) => void): ReadVersions {
  return {
    of: (name) => () => {
      const now = guarded(() => catalogue.unchanged(name), failed)
      return now && `${now.entry.table} ${now.version}`
    },
  }
}

function refuse(): never {
  throw new WriteRefused()
}

function refusedJobs(): Jobs {
  return {
    claim: refuse,
    renew: refuse,
    complete: refuse,
    fail: refuse,
    release: refuse,
    get: refuse,
    search: refuse,
    requeue: refuse,
    cancel: refuse,
    onEnqueued: refuse,
  }
}

function refusedQueues(): Queues {
  return { list: refuse, configure: refuse, purge: refuse }
}
