/** Indexes over fields of documents. Their names hold a hash of their SQL: the same need twice is the same index. */
import { createHash } from 'node:crypto'
import { QuoinError } from '../../../shared/errors.ts'
import { fieldNameProblem } from '../../../shared/field-path.ts'
import { type Index, readIndexed } from '../../document-index.ts'
import { EXPIRES, EXPIRY, IS_REMOVED, indexExpression, REMOVED } from '../sql/field-sql.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { violatedIndex } from './sqlite-errors.ts'
import type { StorageEntry } from './storage-entry.ts'

const MAX_FIELDS = 8

export interface PlannedIndex {
  readonly name: string
  readonly sql: string
  readonly definition: Index
}

/** undefined if the table's own index by creation does it. Throws INVALID_QUERY for a field name that makes no sense. */
export function planIndex(entry: StorageEntry, index: Index): PlannedIndex | undefined {
  const { fields, unique = false } = index
  if (fields.length === 0 || fields.length > MAX_FIELDS)
    throw new QuoinError('INVALID_QUERY', `An index needs 1 to ${MAX_FIELDS} fields.`)
  for (const field of fields) {
    const problem = fieldNameProblem(readIndexed(field).field)
    if (problem) throw new QuoinError('INVALID_QUERY', `The field name ${JSON.stringify(field)} ${problem}.`)
  }
  const columns = unique ? fields.map(indexExpression) : orderColumns(fields)
  if (columns.length === 0) return undefined
  const on = `ON ${entry.table} (${columns.join(', ')}) WHERE ${unique ? 'removed = 0' : heldBy(fields)}`
  const kind = unique ? 'UNIQUE INDEX' : 'INDEX'
  const hash = createHash('sha256').update(`${kind} ${on}`).digest('hex').slice(0, 12)
  const name = `ix_${entry.id}_${hash}`
  return { name, sql: `CREATE ${kind} ${name} ${on}`, definition: { fields, unique } }
}

/**
 * Few documents expire or are removed: an index by the time of that holds those alone, and costs the others nothing when they are
 * written. What looks for them says the same (`sqlite-condition.ts`), or the planner could not know that it may use it.
 */
function heldBy([first = '']: readonly string[]): string {
  if (first === REMOVED) return IS_REMOVED
  return first === EXPIRY ? `removed = 0 AND ${EXPIRES}` : 'removed = 0'
}

/** As the order of a search is written: ties are broken by creation, which makes a last key that says the same needless. */
function orderColumns(fields: readonly string[]): string[] {
  const byCreation = ['_meta.created', '_meta.cms'].includes(fields.at(-1) ?? '')
  const columns = fields.slice(0, byCreation ? -1 : undefined).map(indexExpression)
  return columns.length === 0 ? [] : [...columns, 'created', 'guid']
}

/** Takes the storage's number, the index's name and its definition as JSON. */
export const saveIndexSql = 'INSERT INTO storage_index (storage, name, definition) VALUES (?, ?, ?)'
/** Takes the storage's number and the index's name. */
export const forgetIndexSql = 'DELETE FROM storage_index WHERE storage = ? AND name = ?'

/** In the writer's transaction. The catalogue's memory is changed by the caller, after the commit. */
export function createIndex(connection: SqliteConnection, entry: StorageEntry, planned: PlannedIndex): void {
  try {
    connection.run(planned.sql)
  } catch (error) {
    if (violatedIndex(error) === undefined) throw error
    const fields = planned.definition.fields.join(', ')
    throw new QuoinError(
      'CONFLICT',
      `The storage ${entry.name} holds documents with the same ${fields}, so it cannot be made unique. Change or remove them first.`,
    )
  }
  connection.run(saveIndexSql, entry.id, planned.name, JSON.stringify(planned.definition))
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
