import type { Database } from './database.ts'

/** Documents are written through sessions and nowhere else, so what those are has to be said. */
export type DatabaseChanges = Pick<Database, 'session'> & Partial<Database>

/**
 * A database that is another one but for the members that are given. A new member of `Database` does not compile until it
 * is handed on here; one that writes documents belongs to those that {@link DatabaseChanges} asks for. Bound and not called
 * with the arguments by name, so that one that a member gets later is handed on too.
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
