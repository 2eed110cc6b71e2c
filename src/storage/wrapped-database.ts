import type { Database } from './database.ts'

/** Documents are written through sessions and nowhere else, so what those are has to be said. */
export type DatabaseChanges = Pick<Database, 'session'> & Partial<Database>

/**
 * A database that passes every call to `database`, except for the members in `changes`. A new member of `Database` does not
 * compile until it is passed on here; one that writes documents belongs into {@link DatabaseChanges}. Members are bound
 * instead of called with named arguments, so that an argument that a member gets later is passed on too.
 */
export function wrappedDatabase(database: Database, changes: DatabaseChanges): Database {
  return {
    ensure: database.ensure.bind(database),
    drop: database.drop.bind(database),
    has: database.has.bind(database),
    names: database.names.bind(database),
    observe: database.observe.bind(database),
    capabilities: database.capabilities,
    close: database.close.bind(database),
    ...changes,
  }
}
