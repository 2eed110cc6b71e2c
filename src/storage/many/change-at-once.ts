/** All documents that match, changed in the transaction of a session: all of them, or none. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Session } from '../database.ts'
import { changeDocuments } from './change-documents.ts'
import type { ManyChange } from './many-change.ts'
import { matchingPage } from './matching-pages.ts'

/** Gives how many were changed. Where one is refused, it throws and all that the session has written is undone. */
export async function changeAtOnce(
  session: Session,
  change: ManyChange,
  signal: AbortSignal,
): Promise<number> {
  // All of them first: what is changed may match no longer, or stand elsewhere.
  const guids: string[] = []
  let page = await matchingPage(session, change)
  guids.push(...page.guids)
  while (page.after !== undefined) {
    await nextTurn()
    signal.throwIfAborted()
    page = await matchingPage(session, change, page)
    guids.push(...page.guids)
  }
  try {
    return await changeDocuments(session, change, guids, (_guid, error) => {
      throw error
    })
  } catch (error) {
    // A flow may continue and commit: half of the documents must not be committed with it.
    await session.rollback()
    throw error
  }
}
