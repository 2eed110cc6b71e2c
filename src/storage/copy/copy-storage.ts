/** One storage: its table with free text first, then its documents, then its indexes, which are made at once that way. */

import type { Needs } from '../document-index.ts'
import { changing, dropStorage, ensureStorage } from '../postgres/core/postgres-ensure.ts'
import type { PostgresParts } from '../postgres/core/postgres-parts.ts'
import { textOf } from '../postgres/core/rows.ts'
import { dropKey, makeUnique } from '../postgres/unique/make-unique.ts'
import { duplicatesError } from '../unique/duplicates.ts'
import type { CopiedRow } from './copied-tables.ts'
import { documentTable } from './copied-tables.ts'
import { copyRows } from './copy-rows.ts'
import type { SourceStorage } from './copy-source.ts'
import type { PostgresRows } from './postgres-rows.ts'

export async function copyStorage(
  postgres: PostgresParts,
  storage: SourceStorage,
  batches: Iterable<readonly CopiedRow[]>,
  copied: (rows: number) => void,
): Promise<PostgresRows> {
  const { name, text, indexes, unique } = storage
  const ensure = (needs: Needs) =>
    postgres.withClusterLock('catalogue', () => ensureStorage(postgres, name, needs))
  await ensure({ text })
  const { table, needsText } = await postgres.catalogue.entry(name)
  await dropUniqueIndexes(postgres, name)
  const { unique: former } = await postgres.catalogue.entry(name)
  for (const key of former) await dropKey(postgres, key)
  const rows = { name: table, table: documentTable, tokens: needsText }
  await copyRows(postgres.pool, rows, batches, copied)
  await ensure({ indexes })
  for (const key of unique) {
    const duplicates = await makeUnique(postgres, name, key)
    if (duplicates) throw duplicatesError(name, key, duplicates)
  }
  return rows
}

/** What a run before has made and the source no longer has. */
export async function dropOtherStorages(
  postgres: PostgresParts,
  storages: readonly SourceStorage[],
): Promise<void> {
  await postgres.catalogue.reload()
  const names = new Set(storages.map(({ name }) => name))
  for (const name of postgres.catalogue.names())
    if (!names.has(name)) await postgres.withClusterLock('catalogue', () => dropStorage(postgres, name))
}

/**
 * Of a run before: on the way from the documents of that time to those of now, two may have the same value for a while.
 * Also the half-made one of a run that was killed, which refuses documents and stands in no catalogue.
 */
async function dropUniqueIndexes(postgres: PostgresParts, name: string): Promise<void> {
  const { id, table } = await postgres.catalogue.entry(name)
  const found = await postgres.pool.rows(
    `SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = to_regclass($1) AND indisunique AND NOT indisprimary`,
    [table],
  )
  if (found.length === 0) return
  const names = found.map((row) => textOf(row, 'relname'))
  await postgres.withClusterLock('catalogue', () =>
    changing(postgres, async (transaction) => {
      await transaction.run('DELETE FROM storage_index WHERE storage = $1 AND name = ANY ($2::text[])', [
        id,
        names,
      ])
      for (const one of names) await transaction.script(`DROP INDEX ${one}`)
    }),
  )
}
