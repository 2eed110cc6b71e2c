/**
 * Whether what is written to a database keeps to the rules of its fields is its type: code that needs the rules kept cannot
 * be given a database without them, and no database is wrapped twice. So is on whose behalf documents are opened.
 */
import type { Database } from './database.ts'

export const keepsRules: unique symbol = Symbol('keeps the rules of fields')

/** Writes what it is told to write: what an engine gives. */
export interface RawDatabase extends Database {
  readonly [keepsRules]: false
}

export const opensFor: unique symbol = Symbol('on whose behalf documents are opened')

/** Each write keeps to the rules of its fields (`records/fields/validated-database.ts`), or none is possible. */
export interface ValidatedDatabase extends Database {
  readonly [keepsRules]: true
}

/**
 * On whose behalf its documents are opened is said: a user's, as `records/permissions/permissions.ts` gives it, or the system's. Code
 * that opens documents of builders for a request takes this one, so a request cannot read past the rules of a storage by mistake.
 */
export interface PermittedDatabase extends ValidatedDatabase {
  readonly [opensFor]: 'user' | 'system'
}

/** For the system itself: the rules of storages about who may see or change what do not count. */
export function asSystem(database: ValidatedDatabase): PermittedDatabase {
  return { ...database, [opensFor]: 'system' }
}
