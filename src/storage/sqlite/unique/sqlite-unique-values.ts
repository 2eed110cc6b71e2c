/** The rows of unique keys, as writes change them. Always inside the writer's turn: no other write comes between. */

import { type ActiveUniqueKey, keyTable, type UniqueValue } from '../../unique/active-unique-key.ts'
import { UniqueConflict } from '../../unique/duplicates.ts'
import { type SqliteConnection, textOf } from '../core/sqlite-connection.ts'

export function keyTableSql(key: Pick<ActiveUniqueKey, 'id'>): string {
  const table = keyTable(key)
  return `
    CREATE TABLE ${table} (
      value TEXT NOT NULL, slot TEXT NOT NULL, guid TEXT NOT NULL, PRIMARY KEY (value, slot)) STRICT, WITHOUT ROWID;
    CREATE INDEX ${table}_again ON ${table} (slot) WHERE slot <> '';`
}

/** The document that has the value. */
export function holderOf(connection: SqliteConnection, { key, value }: UniqueValue): string | undefined {
  const row = connection.get(`SELECT guid FROM ${keyTable(key)} WHERE value = ? AND slot = ''`, value)
  return row && textOf(row, 'guid')
}

/** Throws UniqueConflict. Asked before anything is written: a refused statement would undo more than itself. */
export function refuseTaken(
  connection: SqliteConnection,
  storage: string,
  values: readonly UniqueValue[],
): void {
  for (const one of values)
    if (one.key.isReady && holderOf(connection, one) !== undefined)
      throw new UniqueConflict(storage, one.key.definition)
}

/** Behind {@link refuseTaken}. */
export function takeValues(connection: SqliteConnection, guid: string, values: readonly UniqueValue[]): void {
  for (const one of values) {
    const { key, value } = one
    const isAgain = !key.isReady && (holderOf(connection, one) ?? guid) !== guid
    connection.run(
      `INSERT INTO ${keyTable(key)} (value, slot, guid) VALUES (?, ?, ?)${key.isReady ? '' : ' ON CONFLICT DO NOTHING'}`,
      value,
      isAgain ? guid : '',
      guid,
    )
  }
}

export function freeValues(connection: SqliteConnection, guid: string, values: readonly UniqueValue[]): void {
  for (const { key, value } of values)
    connection.run(`DELETE FROM ${keyTable(key)} WHERE value = ? AND guid = ?`, value, guid)
}
