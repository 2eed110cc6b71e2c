/** A database of either engine in this process. It is filled without waiting for the disk, which is not what is measured. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { JsonObject } from '../src/shared/json.ts'
import { setFields } from '../src/shared/mutation.ts'
import { createAll } from '../src/storage/create-all.ts'
import type { Database } from '../src/storage/database.ts'
import { guidOf, objectsIn } from '../src/storage/document-fields.ts'
import type { StoredJson } from '../src/storage/stored-json.ts'
import { transact } from '../src/storage/transact.ts'
import { openMeasuredPostgres } from './measured-postgres.ts'

export interface EngineDatabase {
  readonly database: Database
  /** Vacuums PostgreSQL. */
  settle(): Promise<void>
  close(): Promise<void>
}

const BATCH = 5_000

export async function openEmbedded(): Promise<EngineDatabase> {
  const { openSqliteDatabase } = await import('../src/storage/sqlite/core/sqlite-database.ts')
  const directory = await mkdtemp(join(tmpdir(), 'quoin-bench-engine-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const database = await openSqliteDatabase({
      ...{ directory, clock: Date.now, random: randomFillSync, entity: 1 },
      synchronous: 'OFF',
    })
    const close = () => database.close().finally(remove)
    return { database, settle: async () => undefined, close }
  } catch (error) {
    await remove()
    throw error
  }
}

export async function openPostgres(): Promise<EngineDatabase> {
  const { openPostgresDatabase } = await import('../src/storage/postgres/core/postgres-database.ts')
  const server = await openMeasuredPostgres()
  const url = server.url('postgres')
  try {
    const database = await openPostgresDatabase({
      ...{ url, connections: 4, clock: Date.now, random: randomFillSync, entity: 1 },
      node: { name: 'bench', version: '0.0.0' },
      monotonic: () => performance.now(),
      wall: Date.now,
      load: () => 0,
    })
    const close = () => database.close().finally(() => server.close())
    return { database, settle: () => vacuum(url), close }
  } catch (error) {
    await server.close()
    throw error
  }
}

/** What PostgreSQL does by itself some time after many writes: it sees which rows all can see, and estimates again. */
export async function vacuum(connectionString: string): Promise<void> {
  const admin = new Client({ connectionString })
  await admin.connect()
  try {
    await admin.query('VACUUM ANALYZE')
  } finally {
    await admin.end()
  }
}

/** Puts so many documents into a storage. */
export async function fillStorage(
  database: Database,
  storage: string,
  count: number,
  document: (number: number) => JsonObject,
  made: (documents: readonly StoredJson[]) => void = () => undefined,
): Promise<void> {
  await database.ensure(storage)
  for (let done = 0; done < count; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - done) }, (_, at) => ({
      mutations: setFields(document(done + at)),
    }))
    made((await transact(database, (session) => createAll(session, storage, batch))).documents)
  }
}

/** Its guids, in order. */
export async function fillWithGuids(
  database: Database,
  storage: string,
  count: number,
  document: (number: number) => JsonObject,
): Promise<string[]> {
  const guids: string[] = []
  await fillStorage(database, storage, count, document, (documents) => {
    for (const { value } of documents) guids.push(guidOf(objectsIn([value])[0] ?? {}))
  })
  return guids
}

export async function timeOf(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
