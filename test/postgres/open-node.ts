import { randomFillSync } from 'node:crypto'
import type { PostgresOptions } from '../../src/storage/postgres/core/postgres-ground.ts'
import { openPostgresStorage } from '../../src/storage/postgres/core/postgres-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'

/** A node on the database, ordinary but for what is given. */
export function openNode(url: string, { node, ...more }: NodeChanges = {}): Promise<Storage> {
  return openPostgresStorage({
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
  })
}

/** `node`: its name. */
export type NodeChanges = Partial<Omit<PostgresOptions, 'node' | 'url'>> & { readonly node?: string }

export interface Reopenable {
  /** The first one. */
  readonly storage: Storage
  /** Closes the one that is open, and opens another. */
  reopen(): Promise<Storage>
  close(): Promise<void>
}

export async function reopenable(open: () => Promise<Storage>): Promise<Reopenable> {
  const storage = await open()
  let last = storage
  return {
    storage,
    async reopen() {
      await last.close()
      last = await open()
      return last
    },
    close: () => last.close(),
  }
}
