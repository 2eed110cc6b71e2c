import { expectTypeOf, test } from 'vitest'
import { describeStorage } from '../../test/conformance/conformance.ts'
import { openTestDatabase } from '../../test/test-database.ts'
import type { Claims } from './claims.ts'
import type { Database, Session, SessionShortcuts, Transaction } from './database.ts'
import { TransparentSession, wrappedDatabase } from './wrapped-session.ts'

// What hands everything on keeps every promise of what it is around.

const wrapped = (database: Database) =>
  wrappedDatabase(database, { session: (origin) => new TransparentSession(database.session(origin)) })

describeStorage('wrapped', async () => {
  const { database, clock, reopen, close } = await openTestDatabase()
  return {
    database: wrapped(database),
    clock,
    reopen: async () => wrapped(await reopen()),
    destroy: close,
  }
})

type Arguments<T> = { [K in keyof T]: T[K] extends (...input: infer Given) => unknown ? Given : never }

test('each argument that a session takes is handed on', () => {
  // Found by the compiler: it lets a method take fewer arguments than its interface says.
  expectTypeOf<Arguments<TransparentSession>>().toEqualTypeOf<
    Arguments<Session & Claims & Transaction & Required<SessionShortcuts>>
  >()
})
