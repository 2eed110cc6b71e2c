import type { Options } from './options.ts'
import type { Clock } from './shared/clock.ts'
import { eventLoopLoad } from './shared/event-loop-load.ts'
import type { Random } from './shared/guid.ts'
import { openPostgresStorage } from './storage/postgres/postgres-storage.ts'
import { openSqliteStorage } from './storage/sqlite/sqlite-storage.ts'
import type { Storage } from './storage/storage.ts'

export interface StorageSurroundings {
  readonly clock: Clock
  readonly random: Random
  /** As the other nodes see this one. */
  readonly node: { readonly name: string; readonly version: string }
  /** Embedded only: do not wait for the disk. */
  readonly synchronous?: 'OFF' | undefined
  /** What went wrong while nobody waited for it. */
  readonly report?: (error: unknown) => void
}

/** The engine that the settings name. */
export function openStorage(options: Options, surroundings: StorageSurroundings): Promise<Storage> {
  const { clock, random, node, synchronous, report } = surroundings
  const { entity } = options
  if (options.databaseUrl === '')
    return openSqliteStorage({
      directory: options.data,
      clock,
      random,
      entity,
      ...(synchronous && { synchronous }),
    })
  return openPostgresStorage({
    url: options.databaseUrl,
    ...(options.listenUrl !== '' && { listenUrl: options.listenUrl }),
    connections: options.pool,
    clock,
    random,
    entity,
    node,
    monotonic: () => performance.now(),
    load: eventLoopLoad(),
    ...(report && { report }),
  })
}
