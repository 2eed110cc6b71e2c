import type { Origin, Session, Storage } from './storage.ts'

/**
 * Runs `work` as one transaction: committed and durable when this resolves, undone when it throws. For management work;
 * a flow's run holds its own session.
 */
export async function transact<T>(
  storage: Storage,
  work: (session: Session) => T | Promise<T>,
  origin: Origin = {},
): Promise<T> {
  const session = storage.session(origin)
  try {
    const result = await work(session)
    await session.commit()
    return result
  } catch (error) {
    await session.rollback()
    throw error
  }
}
