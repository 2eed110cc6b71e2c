/**
 * Indexes over fields of documents. Their names hold a hash of their SQL: the same need twice is the same index. Beside
 * the indexes over a field stands one of its odd values (field-sql.ts).
 *
 * An empty table gets them in a transaction, which is fast. A table with documents gets them CONCURRENTLY, so that no
 * writer has to wait. The invalid index that such a statement leaves behind when it fails is made again. On a table that
 * an administrator has partitioned (docs/growing.md) there is no CONCURRENTLY: writers wait until the index is there.
 */
import { createHash } from 'node:crypto'
import { QuoinError } from '../../../shared/errors.ts'
import { fieldNameProblem } from '../../../shared/field-path.ts'
import { type Index, readIndexed } from '../../document-index.ts'
import {
  IS_REMOVED,
  indexExpression,
  type KeyColumns,
  REMOVED,
  unexpectedTypeIndex,
} from '../sql/field-sql.ts'
import type { StorageEntry } from './postgres-catalogue.ts'
import { isUnsupported, violatedIndex } from './postgres-errors.ts'
import { type PostgresConnection, textOf } from './rows.ts'

/**
 * Drops what a version before made beside its indexes, so that the planner knew how many documents have a value. Key columns have statistics of
 * their own, and a storage that has none yet gets them within minutes.
 */
export async function dropStatistics(connection: PostgresConnection, table: string): Promise<void> {
  const rows = await connection.rows(
    `SELECT stxname FROM pg_statistic_ext WHERE stxrelid = $1::text::regclass AND stxname LIKE $2`,
    [table, `${table}_stat_%`],
  )
  for (const row of rows) await connection.run(`DROP STATISTICS IF EXISTS ${textOf(row, 'stxname')}`)
}

const MAX_FIELDS = 8

/** What indexes are planned for. */
export type StorageParts = Pick<StorageEntry, 'id' | 'name' | 'table' | 'columns' | 'indexes'>

export interface PlannedIndex {
  readonly name: string
  readonly sql: string
  readonly definition: Index
  /** Those of odd values. */
  readonly beside: readonly { readonly name: string; readonly sql: string }[]
}

/** undefined if the table's own index by creation does it. Throws INVALID_QUERY for a field name that makes no sense. */
export function planIndex(
  entry: Pick<StorageEntry, 'id' | 'table' | 'columns'>,
  index: Index,
): PlannedIndex | undefined {
  const { fields, unique = false } = index
  if (fields.length === 0 || fields.length > MAX_FIELDS)
    throw new QuoinError('INVALID_QUERY', `An index needs 1 to ${MAX_FIELDS} fields.`)
  for (const field of fields) {
    const problem = fieldNameProblem(readIndexed(field).field)
    if (problem) throw new QuoinError('INVALID_QUERY', `The field name ${JSON.stringify(field)} ${problem}.`)
  }
  const columns = unique
    ? fields.map((field) => indexExpression(field, entry.columns))
    : orderColumns(fields, entry.columns)
  if (columns.length === 0) return undefined
  // An index by the time of removal holds removed documents alone; `postgres-condition.ts` says the same in searches.
  const held = !unique && fields[0] === REMOVED ? IS_REMOVED : 'removed = 0'
  const on = `ON ${entry.table} (${columns.join(', ')})${included(fields, entry.columns)} WHERE ${held}`
  const kind = unique ? 'UNIQUE INDEX' : 'INDEX'
  const hash = createHash('sha256').update(`${kind} ${on}`).digest('hex').slice(0, 12)
  const name = `ix_${entry.id}_${hash}`
  return {
    name,
    sql: `CREATE ${kind} ${name} ${on}`,
    definition: { fields, unique },
    beside: fields.flatMap((field) => unexpectedTypeIndex(entry.table, field, entry.columns) ?? []),
  }
}

/** As the order of a search is written: ties are broken by creation, which makes a last key that says the same needless. */
function orderColumns(fields: readonly string[], columns: KeyColumns): string[] {
  const byCreation = ['_meta.created', '_meta.cms'].includes(fields.at(-1) ?? '')
  const keys = fields.slice(0, byCreation ? -1 : undefined).map((field) => indexExpression(field, columns))
  return keys.length === 0 ? [] : [...keys, 'created', 'guid']
}

/** The numbers and instants beside the keys, so that the index alone answers what is asked of the fields. */
export function included(fields: readonly string[], columns: KeyColumns): string {
  const numbers = new Set(fields.flatMap((field) => columns.get(readIndexed(field).field) ?? []))
  const beside = [...numbers].flatMap((number) => [`v${number}`, `t${number}`])
  return beside.length === 0 ? '' : ` INCLUDE (${beside.join(', ')})`
}

/** Throws CONFLICT when documents that are there have the same value. */
export async function createIndex(
  connection: PostgresConnection,
  entry: Pick<StorageEntry, 'id' | 'name'>,
  planned: PlannedIndex,
  how: 'in transaction' | 'concurrently',
): Promise<void> {
  for (const { name, sql } of planned.beside) await make(connection, name, sql, how)
  try {
    await make(connection, planned.name, planned.sql, how)
  } catch (error) {
    const fields = planned.definition.fields.join(', ')
    if (planned.definition.unique && isUnsupported(error))
      throw new QuoinError(
        'CONFLICT',
        `The table of the storage ${entry.name} is partitioned in PostgreSQL, which then cannot keep ${fields} unique. Make it one table again, or take the unique field away.`,
      )
    if (violatedIndex(error) === undefined) throw error
    throw new QuoinError(
      'CONFLICT',
      `The storage ${entry.name} holds documents with the same ${fields}, so it cannot be made unique. Change or remove them first.`,
    )
  }
  await connection.run(
    'INSERT INTO storage_index (storage, name, definition) VALUES ($1, $2, $3::json) ON CONFLICT DO NOTHING',
    [entry.id, planned.name, JSON.stringify(planned.definition)],
  )
}

/** Makes an index if there is none of its name. Names and SQL are our own. */
export async function make(
  connection: PostgresConnection,
  name: string,
  sql: string,
  how: 'in transaction' | 'concurrently',
): Promise<void> {
  const [known] = await connection.rows(
    'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)::oid',
    [name],
  )
  if (known?.indisvalid === true) return
  if (how === 'in transaction') {
    await connection.run(sql)
    return
  }
  if (known) await concurrently(connection, `DROP INDEX ${name}`)
  try {
    await concurrently(connection, sql)
  } catch (error) {
    await concurrently(connection, `DROP INDEX IF EXISTS ${name}`).catch(() => undefined)
    throw error
  }
}

async function concurrently(connection: PostgresConnection, sql: string): Promise<void> {
  try {
    await connection.run(sql.replace('INDEX', 'INDEX CONCURRENTLY'))
  } catch (error) {
    if (!isUnsupported(error)) throw error
    await connection.run(sql)
  }
}

/** What no search uses any more. */
export interface Outdated {
  /** Those that stand in the catalogue. */
  readonly named: readonly string[]
  /** These, and those of odd values. */
  readonly indexes: readonly string[]
}

/** What goes with the indexes that the storage has when its fields have these columns. */
export function outdatedIndexes(entry: StorageParts, columns: KeyColumns): Outdated {
  const planned = (known: KeyColumns) =>
    [...entry.indexes.values()].flatMap((index) => planIndex({ ...entry, columns: known }, index) ?? [])
  const after = planned(columns)
  const beside = (list: readonly PlannedIndex[]) =>
    new Set(list.flatMap((one) => one.beside.map(({ name }) => name)))
  const remaining = new Set(after.map(({ name }) => name))
  const named = [...entry.indexes.keys()].filter((name) => !remaining.has(name))
  return { named, indexes: [...named, ...beside(planned(entry.columns)).difference(beside(after))] }
}

export async function dropOutdated(
  connection: PostgresConnection,
  { table }: Pick<StorageEntry, 'table'>,
  { indexes }: Outdated,
  how: 'in transaction' | 'concurrently',
): Promise<void> {
  for (const name of indexes)
    await (how === 'in transaction'
      ? connection.run(`DROP INDEX IF EXISTS ${name}`)
      : concurrently(connection, `DROP INDEX IF EXISTS ${name}`))
  if (indexes.length > 0) await dropStatistics(connection, table)
}

/** Takes them out of the catalogue. */
export async function forgetOutdated(
  transaction: PostgresConnection,
  { id }: Pick<StorageEntry, 'id'>,
  { named }: Outdated,
): Promise<void> {
  if (named.length === 0) return
  await transaction.run('DELETE FROM storage_index WHERE storage = $1 AND name = ANY ($2::text[])', [
    id,
    named,
  ])
}

/** The error for a document that a unique index refused, or undefined if that is not what happened. */
export function uniqueConflict(error: unknown, entry: StorageEntry): QuoinError | undefined {
  const name = violatedIndex(error)
  const index = name === undefined ? undefined : entry.indexes.get(name)
  if (index === undefined) return undefined
  return new QuoinError(
    'CONFLICT',
    `Another document of the storage ${entry.name} has the same ${index.fields.join(', ')}. Use another value.`,
  )
}
