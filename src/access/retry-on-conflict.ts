import { QuoinError } from '../shared/errors.ts'
import type { Database, Origin, Session } from '../storage/database.ts'
import { transact } from '../storage/transact.ts'

/** Does the work again when another session adds the same counter first; by then it is there to be counted on. */
export async function retryContested<T>(
  database: Database,
  work: (session: Session) => Promise<T>,
  origin?: Origin,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transact(database, work, origin)
    } catch (error) {
      if (!(error instanceof QuoinError) || error.code !== 'CONFLICT' || tries === 5) throw error
    }
  }
}
