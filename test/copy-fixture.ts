/** A data folder with the embedded engine, to be copied to PostgreSQL. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CopySource, openCopySource } from '../src/storage/copy/copy-source.ts'
import {
  type Bucket,
  type CopyProgress,
  type CopyReport,
  copyToPostgres,
} from '../src/storage/copy/copy-to-postgres.ts'
import type { Database } from '../src/storage/database.ts'
import { openPostgresDatabase } from '../src/storage/postgres/core/postgres-database.ts'
import { openSqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'

const world = { clock: Date.now, random: randomFillSync }

export interface CopyFixture {
  readonly directory: string
  /** Works on the folder as a server would, and lets go of it. */
  fill(work: (database: Database) => Promise<void>): Promise<void>
  source(): Promise<CopySource>
  copy(url: string, bucket?: Bucket, tell?: (progress: CopyProgress) => void): Promise<CopyReport>
  close(): Promise<void>
}

export async function openCopyFixture(): Promise<CopyFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-copy-'))
  const source = () => openCopySource({ directory, ...world })
  return {
    directory,
    source,
    async fill(work) {
      const database = await openSqliteDatabase({ directory, ...world, entity: 1, synchronous: 'OFF' })
      await work(database).finally(() => database.close())
    },
    async copy(url, bucket, tell = () => undefined) {
      const opened = await source()
      try {
        return await copyToPostgres(opened, { url, ...world, version: '1.2.3', bucket, tell })
      } finally {
        opened.close()
      }
    },
    close: () => rm(directory, { recursive: true, force: true }),
  }
}

/** A node on a database, as far as storage goes. */
export function openNode(url: string): Promise<Database> {
  return openPostgresDatabase({
    url,
    ...world,
    entity: 1,
    connections: 4,
    node: { name: 'a-node', version: '1.2.3' },
    monotonic: () => performance.now(),
    wall: Date.now,
    load: () => 0,
  })
}
