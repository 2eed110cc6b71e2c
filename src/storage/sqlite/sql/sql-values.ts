/** How values stand in SQL for SQLite: as question marks. */
import type { CompiledSql, SqlValue } from '../../search/compiled-sql.ts'

export function value(parameter: SqlValue): CompiledSql {
  return { sql: '?', parameters: [parameter] }
}

/**
 * A JSON scalar as SQLite reads it out of a document. JavaScript writes 2^60 as 1152921504606847000, which SQLite takes
 * for that integer, while the bound number would be 2^60: so both sides go through SQLite's own JSON reader.
 */
export function jsonValue(scalar: string | number | boolean): CompiledSql {
  return { sql: `(? ->> '$')`, parameters: [JSON.stringify(scalar)] }
}
