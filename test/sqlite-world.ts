/** The embedded engine with its insides at hand, and random histories of writes, for what looks closer than a storage lets it. */
import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { JsonObject } from '../src/shared/json.ts'
import type { Session } from '../src/storage/database.ts'
import { SqliteDatabase } from '../src/storage/sqlite/core/sqlite-database.ts'
import { openSqliteParts, type SqliteParts } from '../src/storage/sqlite/core/sqlite-parts.ts'
import { metaOf, set } from './conformance/expectations.ts'
import { testClock } from './test-database.ts'

export interface SqliteWorld {
  readonly directory: string
  readonly parts: SqliteParts
  readonly database: SqliteDatabase
  /** Closes the storage and removes its directory. */
  close(): Promise<void>
}

/** In a directory of its own, without waiting for the disk. */
export async function openSqliteWorld(): Promise<SqliteWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const parts = await openSqliteParts({
    directory,
    clock: testClock(),
    random: randomFillSync,
    entity: 1,
    synchronous: 'OFF',
  })
  const database = new SqliteDatabase(parts)
  return {
    directory,
    parts,
    database,
    async close() {
      await database.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** `at` picks one of the documents that were created before. */
export type Write =
  | { readonly do: 'create'; readonly body: JsonObject }
  | { readonly do: 'update'; readonly at: number; readonly body: JsonObject }
  | { readonly do: 'delete' | 'remove' | 'restore'; readonly at: number }
  | { readonly do: 'commit' | 'rollback' }

/** More is created than deleted, and more is kept than undone. */
export function someWrite(body: fc.Arbitrary<JsonObject>): fc.Arbitrary<Write> {
  const at = fc.nat({ max: 30 })
  return fc.oneof(
    { arbitrary: fc.record({ do: fc.constant('create' as const), body }), weight: 3 },
    fc.record({ do: fc.constant('update' as const), at, body }),
    fc.record({ do: fc.constantFrom('delete' as const, 'remove' as const, 'restore' as const), at }),
    fc.record({ do: fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const) }),
  )
}

/** Writes one after the other to one storage. What it creates may be undone: then others find nothing at that place. */
export function writingTo(session: Session, name: string): (write: Write) => Promise<void> {
  const guids: string[] = []
  return async (write) => {
    const guid = guids['at' in write ? write.at % Math.max(1, guids.length) : 0] ?? ''
    if (write.do === 'create') guids.push(metaOf(await session.create(name, set(write.body))).guid)
    else if (write.do === 'update') await session.update(name, guid, set(write.body))
    else if (write.do === 'commit' || write.do === 'rollback') await session.transaction[write.do]()
    else if (write.do === 'delete') await session.delete(name, guid)
    else await session.setRemoved(name, guid, write.do === 'remove')
  }
}
