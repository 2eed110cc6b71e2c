/** Counters, as writes raise them. Always inside the writer's turn: a counter is committed with the documents that it numbers. */
import { counterName, countersOf, type NumberRequest } from '../../claims.ts'
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'

/** The first of the numbers, which are in a row. */
export function takeNumbers(
  connection: SqliteConnection,
  storage: string,
  field: string,
  { count, from }: NumberRequest,
): number {
  const above = from - 1
  const row = connection.get(
    `INSERT INTO counter (name, last) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET last = max(last, ?) + ? RETURNING last`,
    counterName(storage, field),
    above + count,
    above,
    count,
  )
  return numberOf(row ?? {}, 'last') - count + 1
}

/** Of a storage that is dropped. */
export function forgetCounters(connection: SqliteConnection, storage: string): void {
  const names = countersOf(storage)
  connection.run('DELETE FROM counter WHERE substr(name, 1, ?) = ?', names.length, names)
}
