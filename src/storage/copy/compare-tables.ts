/** Counts and checksums of the same table on both sides, each read from its own database. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PostgresConnection } from '../postgres/core/rows.ts'
import type { CopiedRow, CopiedTable } from './copied-tables.ts'
import { digestPages, type PostgresRows } from './postgres-rows.ts'
import { rowDigest, type TableChecksum, tableChecksum } from './row-digest.ts'

export interface Comparison {
  /** A storage's name, or `jobs (queue)` and `queues`. */
  readonly title: string
  readonly source: TableChecksum
  readonly target: TableChecksum
}

export function isEqual({ source, target }: Comparison): boolean {
  return source.rows === target.rows && source.sha256 === target.sha256
}

export async function sourceChecksum(
  table: CopiedTable,
  batches: Iterable<readonly CopiedRow[]>,
): Promise<TableChecksum> {
  const sum = tableChecksum()
  for (const batch of batches) {
    for (const row of batch) sum.add(rowDigest(table, row))
    // This loop never waits by itself: without a turn the progress is not drawn and signals are not handled.
    await nextTurn()
  }
  return sum.end()
}

export async function targetChecksum(
  connection: PostgresConnection,
  rows: Pick<PostgresRows, 'name' | 'table'>,
  read: (rows: number) => void,
): Promise<TableChecksum> {
  const sum = tableChecksum()
  for await (const page of digestPages(connection, rows)) {
    for (const digest of page) sum.add(digest)
    read(page.length)
  }
  return sum.end()
}
