import { randomFillSync } from 'node:crypto'
import type { Database } from '../../src/storage/database.ts'
import { openPostgresDatabase } from '../../src/storage/postgres/core/postgres-database.ts'
import type { PostgresOptions } from '../../src/storage/postgres/core/postgres-parts.ts'

/** A node on the database, ordinary but for what is given. */
export function openNode(url: string, changes: NodeChanges = {}): Promise<Database> {
  return openPostgresDatabase(nodeOptions(url, changes))
}

export function nodeOptions(url: string, { node, ...more }: NodeChanges = {}): PostgresOptions {
  return {
    url,
    connections: 4,
    clock: Date.now,
    random: randomFillSync,
    entity: 1,
    node: { name: node ?? 'one', version: '1.2.3' },
    monotonic: () => performance.now(),
    wall: Date.now,
    load: () => 0,
    ...more,
  }
}

/** `node`: its name. */
export type NodeChanges = Partial<Omit<PostgresOptions, 'node' | 'url'>> & { readonly node?: string }

export interface Reopenable {
  /** The first one. */
  readonly database: Database
  /** Closes the one that is open, and opens another. */
  reopen(): Promise<Database>
  close(): Promise<void>
}

export async function reopenable(open: () => Promise<Database>): Promise<Reopenable> {
  const database = await open()
  let last = database
  return {
    database,
    async reopen() {
      await last.close()
      last = await open()
      return last
    },
    close: () => last.close(),
  }
}
