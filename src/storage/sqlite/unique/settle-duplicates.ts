/** The documents that had the value of another one when their values were added: some of those others are gone by now. */
import { type Duplicates, MOST_DUPLICATES } from '../../unique/duplicates.ts'
import { type KeptKey, keyTable } from '../../unique/kept-key.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { holderOf } from './sqlite-unique-values.ts'

/** Rows of a step. */
const STEP = 500

export interface SettledStep {
  /** The slot behind which the next step begins; undefined when this was the last one. */
  readonly behind: string | undefined
  /** The key is in force from the end of this transaction on. */
  readonly isReady: boolean
  readonly duplicates: Duplicates | undefined
}

export function settleStep(connection: SqliteConnection, key: KeptKey, behind: string): SettledStep {
  const table = keyTable(key)
  const rows = connection.all(
    `SELECT value, slot FROM ${table} WHERE slot <> '' AND slot > ? ORDER BY slot LIMIT ${STEP}`,
    behind,
  )
  for (const row of rows) {
    const value = textOf(row, 'value')
    if (holderOf(connection, { key, value }) !== undefined) continue
    connection.run(`UPDATE ${table} SET slot = '' WHERE value = ? AND slot = ?`, value, textOf(row, 'slot'))
  }
  const last = rows.at(-1)
  if (last && rows.length === STEP)
    return { behind: textOf(last, 'slot'), isReady: false, duplicates: undefined }
  const duplicates = duplicatesOf(connection, table)
  if (duplicates.total > 0)
    // Where none of them is real, others were written behind the steps: from the beginning.
    return duplicates.documents.length > 0
      ? { behind: undefined, isReady: false, duplicates }
      : { behind: '', isReady: false, duplicates: undefined }
  connection.run('UPDATE unique_key SET ready = 1 WHERE id = ?', key.id)
  return { behind: undefined, isReady: true, duplicates: undefined }
}

function duplicatesOf(connection: SqliteConnection, table: string): Duplicates {
  const row = connection.get(`SELECT count(*) AS n FROM ${table} WHERE slot <> ''`) ?? {}
  const rows = connection.all(
    `SELECT again.guid, first.guid AS same_as FROM ${table} AS again
    JOIN ${table} AS first ON first.value = again.value AND first.slot = ''
    WHERE again.slot <> '' ORDER BY again.slot LIMIT ${MOST_DUPLICATES}`,
  )
  return {
    total: numberOf(row, 'n'),
    documents: rows.map((row) => ({ guid: textOf(row, 'guid'), same_as: textOf(row, 'same_as') })),
  }
}
