/** What compiled SQL of SQLite shares: values as question marks, counts of rows, and what a search runs on. */
import type { CompiledSql, SqlValue } from '../../search/compiled-sql.ts'
import type { TextClause } from '../../search/rank-text.ts'
import type { DocumentShape } from '../core/document-shape.ts'

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

/**
 * How many rows a statement takes or passes over, as a parameter: `LIMIT ${ROWS} OFFSET ${ROWS}`. A parameter alone would be looked at by
 * SQLite's planner (3.53 does), which then compiles the statement again at each call: 15 of the 32 µs of a list of 20.
 */
export const ROWS = '(? + 0)'

export function rows(count: number): CompiledSql {
  return { sql: ROWS, parameters: [count] }
}

/** What a search runs on. */
export interface SearchTarget {
  /** The storage's number. */
  readonly id: number
  readonly table: string
  /** undefined: no free-text index; then a function reads every document. */
  readonly textTable: string | undefined
  readonly shape: DocumentShape
  /** Another storage, as the connection sees it. */
  readonly other?: ((storage: string) => SearchTarget | undefined) | undefined
  /** The condition of a free text whose documents are known already. */
  readonly marked?: ((clause: TextClause) => CompiledSql | undefined) | undefined
  /** Whether the documents that a statement passes over count for the effort of its connection. */
  readonly countsRows?: boolean | undefined
}
