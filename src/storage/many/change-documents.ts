/** The same change to documents one after the other, each as a write of its own: its rules, unique values and observers count. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { asStored, documentOf, type Session, type WriteCondition, type Written } from '../database.ts'
import { isFound } from '../search/evaluate-query.ts'
import type { StoredJson } from '../stored-json.ts'
import type { ManyChange } from './many-change.ts'

/** Milliseconds of work in one turn of the event loop; the write of one document may come on top. */
const TURN_MS = 10

/**
 * Gives how many were changed: a document that no longer matches, or is gone, is left out. `refused` is told of a write that
 * throws; what it throws ends the loop.
 */
export async function changeDocuments(
  session: Session,
  change: ManyChange,
  guids: readonly string[],
  refused: (guid: string, error: unknown) => void,
): Promise<number> {
  const query = await asStored(session, change.storage, change.query)
  const condition: WriteCondition = {
    allows: (document: StoredJson) => isFound(query, change.includeRemoved, documentOf(document)),
  }
  let changed = 0
  let began = performance.now()
  for (const [at, guid] of guids.entries()) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn()
      began = performance.now()
    }
    try {
      const write = changeOne(session, change, guid, { ...condition, following: guids.length - at - 1 })
      const written = isPromise(write) ? await write : write
      if (written.outcome === 'written') changed += 1
    } catch (error) {
      refused(guid, error)
    }
  }
  return changed
}

function changeOne(
  session: Session,
  { storage, kind, mutations }: ManyChange,
  guid: string,
  condition: WriteCondition,
): MaybePromise<Written> {
  switch (kind) {
    case 'update':
      return session.update(storage, guid, mutations, condition)
    case 'remove':
      return session.setRemoved(storage, guid, true, condition)
    case 'restore':
      return session.setRemoved(storage, guid, false, condition)
    case 'delete':
      return session.delete(storage, guid, condition)
  }
}
