import { parseFieldPath } from '../../../shared/field-path.ts'
import type { Collation } from '../../../shared/texts/collations.ts'
import { readIndexed } from '../../document-index.ts'
import { ANY_TYPE, type DocumentShape, NUMBER, OBJECT, STRING, typesAt } from '../core/document-shape.ts'

/** How a field is read in SQL, in a statement over a document table. */
export interface FieldSql {
  /** Gives its strings and numbers as they are, booleans as 1 and 0, arrays and objects as JSON text, else NULL. */
  readonly value: string
  /** The path as a string literal, for JSON functions. */
  readonly path: string
  /** Types that may be there: a mask of document-shape.ts. */
  readonly types: number
  /** A part of `_meta` whose type never changes. */
  readonly fixed: boolean
}

/** Where a part of `_meta` is also a column, the column is read: it is faster, and the table's own indexes are on it. */
const metaFields: Readonly<Record<string, { readonly types: number; readonly column?: string }>> = {
  '_meta.guid': { types: STRING, column: 'guid' },
  '_meta.created': { types: NUMBER, column: 'created / 1000' },
  '_meta.cms': { types: NUMBER, column: 'created' },
  '_meta.ums': { types: NUMBER, column: 'updated' },
  '_meta.updated': { types: NUMBER, column: 'updated / 1000' },
  '_meta.removed': { types: NUMBER, column: 'removed' },
  '_meta.entity': { types: NUMBER },
  '_meta.expiry': { types: NUMBER },
  '_meta.update_hash': { types: STRING },
  _meta: { types: OBJECT },
}

export const REMOVED = '_meta.removed'
/** True of documents that were removed; others hold 0 there. */
export const IS_REMOVED = 'removed > 0'
export const EXPIRY = '_meta.expiry'
/** True of documents that will expire; others hold -1 there. */
export const EXPIRES = `doc ->> '$."_meta"."expiry"' >= 0`

export function fieldSql(shape: DocumentShape, field: string): FieldSql {
  const path = jsonPath(field)
  const meta = Object.hasOwn(metaFields, field) ? metaFields[field] : undefined
  if (meta) return { value: meta.column ?? `doc ->> ${path}`, path, types: meta.types, fixed: true }
  const types = field.startsWith('_meta.') ? ANY_TYPE : typesAt(shape, field)
  return { value: `doc ->> ${path}`, path, types, fixed: false }
}

/**
 * The expression that conditions, orders and indexes share: the planner uses an index only for the very same one. It
 * does not depend on what the storage holds, so an index stays of use when a field gets a value of another type.
 */
export function indexExpression(indexed: string): string {
  const { field, collation } = readIndexed(indexed)
  const read = (Object.hasOwn(metaFields, field) && metaFields[field]?.column) || `doc ->> ${jsonPath(field)}`
  return sortedSql(read, collation)
}

/** What sorts as the value does. The function is of every connection: `sqlite-connection.ts`. */
export function sortedSql(read: string, collation: Collation | undefined): string {
  return collation === undefined ? read : `quoin_sorted(${read}, '${collation}')`
}

/**
 * The only way of a field name into SQL. `parseFieldPath` refuses quotes, backslashes and control characters, so each
 * part fits between double quotes of a JSON path, and doubled apostrophes keep the path inside its literal. Quoted, a
 * part is always a key: `0`, `a b`, `#-1` and `[0]` too.
 */
export function jsonPath(field: string): string {
  const parts = parseFieldPath(field).map((part) => `."${part.replaceAll("'", "''")}"`)
  return `'$${parts.join('')}'`
}
