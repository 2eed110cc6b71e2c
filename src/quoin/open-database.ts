import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Options } from '../options/options.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import { emptyBucket } from '../storage/assets/asset-bucket.ts'
import { parseBucketUrl } from '../storage/assets/bucket-url.ts'
import type { TemporaryDatabases } from '../storage/postgres/core/sibling-databases.ts'
import { lockDirectory } from '../storage/sqlite/core/sqlite-connection.ts'
import { openSqliteDatabase } from '../storage/sqlite/core/sqlite-database.ts'
import type { RawDatabase } from '../storage/validated.ts'
import { spaceDatabase, spaceFolder, spaceOptions } from './space-options.ts'
import { type SpaceLimits, spaceLimits } from './space-quotas.ts'
import type { Start } from './start.ts'
import { eventLoopLoad } from './watchdog.ts'

export type { TemporaryDatabases }

export interface NodeDatabase {
  /** Without the rules of fields: for what those rules themselves are read from, and for what is no document. */
  readonly raw: RawDatabase
  /** Of a space. */
  readonly limits: SpaceLimits | undefined
  readonly node: { readonly name: string; readonly version: string; readonly started: number }
  isDamaged(): boolean
  /** For tests of flows, where the engine can: takes the database back to a copy of its file, unless a storage was written to that may not be. */
  readonly setBack:
    | ((copy: string, mayBeWritten: (storage: string) => boolean) => Promise<boolean>)
    | undefined
  /** Tells what administrators have to know of the database, from before there was a log and from then on. */
  whenNoticed(listener: (message: string) => void): void
}

/** The database that the settings name. */
export async function openNodeDatabase(start: Start): Promise<NodeDatabase> {
  const { options, clock, random, synchronous, version, space, opened } = start
  const node = { name: options.node || hostname(), version, started: Math.floor(clock() / 1000) }
  const noticed: string[] = []
  const listeners: ((message: string) => void)[] = []
  let damaged = false
  const { database, setBack } = await openDatabase(options, {
    clock,
    random,
    node,
    synchronous,
    notice(message, isDamaged) {
      damaged ||= isDamaged
      if (listeners.length === 0) noticed.push(message)
      for (const listener of listeners) listener(message)
      // The system log lies in the database that this is about.
      process.stderr.write(space ? `Space ${space.name}: ${message}\n` : `${message}\n`)
    },
  })
  opened.add(() => database.close())
  const whenNoticed = (listener: (message: string) => void) => {
    listeners.push(listener)
    for (const message of noticed.splice(0)) listener(message)
  }
  const limits = space && spaceLimits(database, space.quotas, clock)
  const raw = limits?.database ?? database
  return { raw, limits, node, isDamaged: () => damaged, setBack, whenNoticed }
}

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

interface EngineDatabase extends Pick<NodeDatabase, 'setBack'> {
  readonly database: RawDatabase
}

/** The engine that the settings name. */
async function openDatabase(options: Options, surroundings: DatabaseSurroundings): Promise<EngineDatabase> {
  const { clock, random, node, synchronous, report, notice } = surroundings
  const { entity } = options
  if (options.databaseUrl === '') {
    const database = await openSqliteDatabase({
      directory: options.data,
      clock,
      random,
      entity,
      acceptLoss: options.acceptLoss,
      ...(notice && { notice }),
      ...(synchronous && { synchronous }),
    })
    return { database, setBack: (copy, mayBeWritten) => database.setBack(copy, mayBeWritten) }
  }
  // Here, because pg and what goes with it are 10 MB that the embedded engine has no use for.
  const { openPostgresDatabase } = await import('../storage/postgres/core/postgres-database.ts')
  const database = await openPostgresDatabase({
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
  return { database, setBack: undefined }
}

/** On PostgreSQL a space has a database of its own, on the same server; its folder is made when it is opened. */
export async function makeSpaceData({ databaseUrl }: Options, guid: string): Promise<void> {
  if (databaseUrl === '') return
  const { makeDatabase } = await import('../storage/postgres/core/sibling-databases.ts')
  await makeDatabase(databaseUrl, spaceDatabase(guid))
}

/** Only asked of the embedded engine, which would make an empty database; PostgreSQL refuses. */
export function lacksSpaceData({ data, databaseUrl }: Options, guid: string): boolean {
  return databaseUrl === '' && !existsSync(join(spaceFolder(data, guid), 'quoin.db'))
}

/** Deletes all that a space has stored, with the backups that are in its own folder and in that of the operator. Nothing has it open. */
export async function removeSpaceData(operator: Options, guid: string): Promise<void> {
  const { data, backups, assetsUrl } = spaceOptions(operator, { guid, title: '', hosts: [] })
  if (operator.databaseUrl !== '') {
    const { dropDatabase } = await import('../storage/postgres/core/sibling-databases.ts')
    await dropDatabase(operator.databaseUrl, spaceDatabase(guid))
  }
  if (assetsUrl !== '') await emptyBucket(parseBucketUrl(assetsUrl))
  await rm(data, { recursive: true, force: true })
  if (backups !== '') await rm(backups, { recursive: true, force: true })
}

/** Where the data would be, for people, if there is none yet; undefined where there is some. Throws UNAVAILABLE where PostgreSQL cannot be asked. */
export async function missingData({ data, databaseUrl }: Options): Promise<string | undefined> {
  if (databaseUrl === '') return existsSync(join(data, 'quoin.db')) ? undefined : data
  const { holdsQuoin, placeOf } = await import('../storage/postgres/core/check-server.ts')
  return (await holdsQuoin(databaseUrl)) ? undefined : placeOf(databaseUrl)
}

/** Databases for the tests of an application, on the server of this address. */
export async function openTemporaryDatabases(
  url: string,
  newName: () => string,
): Promise<TemporaryDatabases> {
  const postgres = await import('../storage/postgres/core/sibling-databases.ts')
  return postgres.openTemporaryDatabases(url, newName)
}

/** Holds a data directory of the embedded database, and gives what lets go of it. Throws where a process runs on it. */
export function holdDirectory(directory: string): () => void {
  return lockDirectory(directory)
}
