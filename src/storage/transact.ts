import type { Database, Origin, Session } from './database.ts'

/**
 * Runs `work` as one transaction: committed and durable when this resolves, undone when it throws. For management work;
 * a flow's run holds its own session.
 */
export async function transact<T>(
  database: Database,
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
