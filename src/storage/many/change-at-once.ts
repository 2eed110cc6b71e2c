/** All documents that match, changed in the transaction of a session: all of them, or none. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import { refusalOf } from '../create-all.ts'
import type { Session } from '../database.ts'
import { changeDocuments } from './change-documents.ts'
import type { ManyChange } from './many-change.ts'
import { matchingPage } from './matching-pages.ts'

/** Of the documents that are not restored. */
const MOST_LISTED = 100

/**
 * Gives how many were changed. Where one is refused, it throws and all that the session has written is undone. Restored documents are
 * all tried first: the error lists those whose unique values are taken by now, or that refer to removed documents.
 */
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
  const refused: Refused[] = []
  try {
    const changed = await changeDocuments(session, change, guids, (guid, error) => {
      if (change.kind !== 'restore') throw error
      refused.push({ guid, error: refusalOf(error) })
    })
    if (refused[0]) throw notRestored(change.storage, refused[0].error, refused)
    return changed
  } catch (error) {
    // A flow may continue and commit: half of the documents must not be committed with it.
    await session.transaction.rollback()
    throw error
  }
}

interface Refused {
  readonly guid: string
  readonly error: QuoinError
}

function notRestored(storage: string, first: QuoinError, refused: readonly Refused[]): QuoinError {
  const total = refused.length
  const what = total === 1 ? '1 document' : `${total.toLocaleString('en-US')} documents`
  const documents = refused.slice(0, MOST_LISTED).map(({ guid, error }) => ({ guid, problem: error.message }))
  return new QuoinError(
    'CONFLICT',
    `${what} of the storage ${storage} cannot be restored, and none is: ${first.message}`,
    { ...(first.fields && { fields: first.fields }), details: { total, documents } },
  )
}
