import type { Actor, RecordContext } from '../../records/records.ts'
import { type Pause, pauses } from '../../shared/in-turns.ts'
import type { Session } from '../../storage/database.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'

/**
 * How long a change lets other work run between its steps. The embedded engine undoes what keeps its writer for five seconds, so
 * what is left after three is done in one turn of the event loop: of 4,000 blocks and more, where each takes 0.4 ms.
 */
const SHARING_MS = 3_000

/**
 * One change of a blueprint's blocks in one transaction, in several turns of the event loop. It holds the blueprint first: until it
 * ends no other change of the blueprint begins, on any node, so that what it reads still holds when it writes.
 */
export async function changeBlocks<T>(
  { database }: RecordContext,
  blueprint: string,
  by: Actor | undefined,
  work: (session: Session, pause: Pause) => Promise<T>,
): Promise<T> {
  const rest = pauses()
  const changed = await transact(
    database,
    async (session) => {
      await session.claims.hold(ownStorages.blueprints, [blueprint], 'change')
      return work(session, pauses(SHARING_MS))
    },
    by ? { user: by } : {},
  )
  // The reply of many blocks is written in a turn of its own, and not in that of the commit.
  await rest()
  return changed
}
