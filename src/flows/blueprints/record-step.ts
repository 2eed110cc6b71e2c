/**
 * Changes of Quoin's own records that a new version needs. Each is done once per database, before blueprints are compiled:
 * 50 records in memory at a time, and one read at later starts.
 */

import type { Actor, RecordContext } from '../../records/records.ts'
import { type Pause, pauses } from '../../shared/cooperative.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf, findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

const PAGE = 50

export async function recordStep(database: Database, name: string, work: () => Promise<void>): Promise<void> {
  await database.ensure(systemStorages.recordSteps, { indexes: [{ fields: ['name'], unique: true }] })
  // Of nodes that start together one does it, and the others find it done. No node deploys meanwhile.
  await database.capabilities.withClusterLock('deployments', async () => {
    if (await findOne(database.session(), systemStorages.recordSteps, 'name', name)) return
    await work()
    await transact(database, (session) => session.create(systemStorages.recordSteps, setFields({ name })))
  })
}

/** `change` gives the fields to write, or undefined when there is nothing to do. */
export async function changeAll(
  database: Database,
  name: string,
  query: Query,
  change: (record: JsonObject) => MaybePromise<Record<string, JsonValue> | undefined>,
): Promise<void> {
  if (!database.has(name)) return
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  let after: string | undefined
  do {
    const page = search({ query, sort, limit: PAGE, ...(after !== undefined && { after }) })
    const found = await database.session().find(name, page)
    after = found.next()
    const changes: { guid: string; fields: Record<string, JsonValue> }[] = []
    for (const record of documentsOf(found)) {
      const fields = await change(record)
      if (fields) changes.push({ guid: guidOf(record), fields })
    }
    if (changes.length === 0) continue
    await transact(database, async (session) => {
      for (const { guid, fields } of changes) await session.update(name, guid, setFields(fields))
    })
  } while (after !== undefined)
}

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
      await session.claims.lockDocuments(systemStorages.blueprints, [blueprint], 'change')
      return work(session, pauses(SHARING_MS))
    },
    by ? { user: by } : {},
  )
  // The reply of many blocks is written in a turn of its own, and not in that of the commit.
  await rest()
  return changed
}
