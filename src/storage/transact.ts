import type { Database, Origin, Session } from './database.ts'
import { SerializationConflict } from './unit-of-work.ts'

/** Each that two clients met costs a second, until the database sees that they wait for each other. */
const MOST_TRIES = 5

/**
 * Runs `work` as one transaction: committed and durable when this resolves, undone when it throws. For management work;
 * a flow's run holds its own session.
 */
export async function transact<T>(
  database: Pick<Database, 'session'>,
  work: (session: Session) => T | Promise<T>,
  origin: Origin = {},
): Promise<T> {
  const session = database.session(origin)
  try {
    const result = await work(session)
    await session.transaction.commit()
    return result
  } catch (error) {
    await session.transaction.rollback()
    throw error
  }
}

/** The same for work that can be done again from its beginning, where another transaction writes the same documents crosswise. */
export async function transactAgain<T>(
  database: Pick<Database, 'session'>,
  work: (session: Session) => T | Promise<T>,
  origin: Origin = {},
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transact(database, work, origin)
    } catch (error) {
      if (!(error instanceof SerializationConflict) || tries === MOST_TRIES) throw error
    }
  }
}
