import type { Options } from '../options/options.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import type { RawDatabase } from '../storage/ruled.ts'
import { openSqliteDatabase } from '../storage/sqlite/core/sqlite-database.ts'
import { lockDirectory } from '../storage/sqlite/core/sqlite-lock.ts'
import { eventLoopLoad } from './event-loop-load.ts'

export interface DatabaseSurroundings {
  readonly clock: Clock
  readonly random: Random
  /** As the other nodes see this one. */
  readonly node: { readonly name: string; readonly version: string }
  /** Embedded only: do not wait for the disk. */
  readonly synchronous?: 'OFF' | undefined
  /** Errors of background work. */
  readonly report?: (error: unknown) => void
  /** What administrators have to know of the database: of its files, its clocks, its timeline. */
  readonly notice?: (message: string, isDamaged: boolean) => void
}

/** The engine that the settings name. */
export async function openDatabase(
  options: Options,
  surroundings: DatabaseSurroundings,
): Promise<RawDatabase> {
  const { clock, random, node, synchronous, report, notice } = surroundings
  const { entity } = options
  if (options.databaseUrl === '')
    return openSqliteDatabase({
      directory: options.data,
      clock,
      random,
      entity,
      acceptLoss: options.acceptLoss,
      ...(notice && { notice }),
      ...(synchronous && { synchronous }),
    })
  // Here, because pg and what goes with it are 10 MB that the embedded engine has no use for.
  const { openPostgresDatabase } = await import('../storage/postgres/core/postgres-database.ts')
  return openPostgresDatabase({
    url: options.databaseUrl,
    directory: options.data,
    ...(options.listenUrl !== '' && { listenUrl: options.listenUrl }),
    connections: options.pool,
    clock,
    random,
    entity,
    node,
    monotonic: () => performance.now(),
    wall: Date.now,
    load: eventLoopLoad(),
    ...(report && { report }),
    ...(notice && { notice }),
  })
}

/** Holds a data directory of the embedded database, and gives what lets go of it. Throws where a process runs on it. */
export function holdDirectory(directory: string): () => void {
  return lockDirectory(directory)
}
