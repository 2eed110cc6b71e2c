/**
 * Deletes documents permanently that were removed long ago, the first removed one first. A document that is restored meanwhile
 * stays: its `update_hash` has changed by then.
 */
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import { search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf, updateHashOf } from '../../storage/document-fields.ts'
import type { Needs } from '../../storage/document-index.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { isOwnStorage } from '../../storage/system-storages.ts'
import { transactAgain } from '../../storage/transact.ts'
import type { SystemLog } from '../system-log.ts'

/** Of the storages of builders, while the setting has a value: it holds removed documents only. */
export const removedNeeds: Needs = { indexes: [{ fields: ['_meta.removed'] }] }

/** Documents in one transaction: all sessions share the writer, so it is never held for more than some milliseconds. */
const BATCH = 100

export interface RemovedParts {
  readonly database: Database
  readonly log: Pick<SystemLog, 'write'>
}

/** Those removed up to `until` (Unix seconds), in all storages of builders. A storage where it fails does not stop the others. */
export async function deleteRemoved(
  { database, log }: RemovedParts,
  until: number,
  isClosed: () => boolean,
): Promise<number> {
  let total = 0
  for (const name of database.names()) {
    if (isClosed() || isOwnStorage(name)) continue
    try {
      const count = await deleteRemovedOf(database, name, until, isClosed)
      total += count
      if (count > 0) log.write({ level: 'info', message: deletedText(name, count) })
    } catch (error) {
      // A storage that was dropped meanwhile is no news.
      if (!database.has(name)) continue
      const reason = error instanceof Error ? error.message : String(error)
      log.write({ level: 'error', message: `Removed documents of ${name} could not be deleted: ${reason}` })
    }
  }
  return total
}

function deletedText(storage: string, count: number): string {
  const documents = count === 1 ? '1 removed document' : `${count.toLocaleString('en-US')} removed documents`
  return `${documents} of the storage ${storage} permanently deleted.`
}

async function deleteRemovedOf(
  database: Database,
  storage: string,
  until: number,
  isClosed: () => boolean,
): Promise<number> {
  await database.ensure(storage, removedNeeds)
  const query = { kind: 'range', field: '_meta.removed', bounds: { gt: 0, lte: until } } as const
  const sort = [{ field: '_meta.removed', order: 'asc', missing: 'last' }] as const
  const page = { query, sort, limit: BATCH, includeRemoved: true }
  let count = 0
  let after: string | undefined
  do {
    const found = await database.session().find(storage, search({ ...page, ...(after && { after }) }))
    const documents = documentsOf(found)
    if (documents.length > 0)
      count += await transactAgain(database, async (session) => {
        let deleted = 0
        for (const document of documents) {
          const condition = { updateHash: updateHashOf(document) }
          const { outcome } = await session.delete(storage, guidOf(document), condition)
          if (outcome === 'written') deleted += 1
        }
        return deleted
      })
    after = found.next()
    await yieldToEventLoop()
  } while (after !== undefined && !isClosed())
  return count
}
