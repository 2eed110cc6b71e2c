import type { Stamps } from '../../document-session.ts'
import type { Observers } from '../../observers.ts'
import type { SearchAdvisor } from '../../search/search-advisor.ts'
import type { SearchCache } from '../cache/search-cache.ts'
import type { SqliteJobs } from '../jobs/sqlite-jobs.ts'
import type { SearchThread } from '../sql/search-thread.ts'
import type { SqliteCatalogue } from './sqlite-catalogue.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { SqliteWriter } from './sqlite-writer.ts'
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
