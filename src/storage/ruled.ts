/**
 * Whether what is written to a database keeps to the rules of its fields is its type: code that needs the rules kept cannot
 * be given a database without them, and no database is wrapped twice.
 */
import type { Database } from './database.ts'

export const keepsRules: unique symbol = Symbol('keeps the rules of fields')

/** Writes what it is told to write: what an engine gives. */
export interface RawDatabase extends Database {
  readonly [keepsRules]: false
}

/** Each write keeps to the rules of its fields (`records/fields/ruled-database.ts`), or none is possible. */
export interface RuledDatabase extends Database {
  readonly [keepsRules]: true
}
