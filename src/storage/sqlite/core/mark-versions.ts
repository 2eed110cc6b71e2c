/** Tells other processes what a transaction wrote, in that transaction: who sees the documents sees the version. */
import type { SqliteConnection } from './sqlite-connection.ts'
import type { StorageEntry } from './storage-entry.ts'

/** Some 3 µs for each storage that was written to. */
export function markVersions(
  connection: SqliteConnection,
  touched: Iterable<StorageEntry>,
  widened: ReadonlySet<StorageEntry>,
): void {
  for (const entry of touched)
    connection.run(
      'UPDATE storage SET version = version + 1, shaped = shaped + ? WHERE id = ?',
      widened.has(entry) ? 1 : 0,
      entry.id,
    )
}
