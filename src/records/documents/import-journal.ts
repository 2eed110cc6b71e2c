/**
 * What an import has written so far, so that it can be undone, also after a crash.
 *
 * An import is one record in `_imports`, and one more for each batch, which holds the guids of the batch and is written
 * in the batch's transaction. The import is over, and stays, from the moment its own record is deleted; batch records
 * that are left then say nothing any more. While its own record is there, and the node that writes it is not live any
 * more, what its batches name is to be deleted.
 */

import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { type Database, documentOf, type Origin, type Session } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'

/** Batches in one transaction when they are undone or forgotten. */
const FEW = 2
const MANY = 50

const isImport: Query = { kind: 'term', field: 'kind', value: 'import' }

export async function openImportJournal(database: Database): Promise<void> {
  await database.ensure(ownStorages.imports, { indexes: [{ fields: ['kind'] }, { fields: ['import'] }] })
}

/** Begins an import into a storage. Gives its guid. */
export async function beginImport(database: Database, name: string): Promise<string> {
  const fields = { kind: 'import', storage: name, node: database.capabilities.cluster?.self ?? '' }
  return guidOf(
    documentOf(await transact(database, (session) => session.create(ownStorages.imports, setFields(fields)))),
  )
}

/** Notes what the session has written of the import. */
export async function noteBatch(session: Session, id: string, guids: readonly string[]): Promise<void> {
  await session.create(ownStorages.imports, setFields({ kind: 'batch', import: id, guids }))
}

/** From when this resolves the import stays, whatever happens. `also` is done in the same transaction. */
export async function endImport(
  database: Database,
  id: string,
  origin: Origin = {},
  also: (session: Session) => MaybePromise<void> = () => undefined,
): Promise<void> {
  await transact(
    database,
    async (session) => {
      await session.delete(ownStorages.imports, id)
      await also(session)
    },
    origin,
  )
  await forgetBatches(database, batchesOf(id))
}

/** Deletes all that the import has written, some batches at a time; can be cut short and begun again. */
export async function undoImport(database: Database, id: string, origin: Origin): Promise<void> {
  const header = await database.session().get(ownStorages.imports, id)
  const name = header && textIn(documentOf(header).storage)
  const wanted = search({ query: batchesOf(id), limit: FEW })
  for (;;) {
    const { documents, length } = await database.session().find(ownStorages.imports, wanted)
    if (length === 0) break
    await transact(
      database,
      async (session) => {
        for (const batch of objectsIn(documents.value)) {
          const guids = Array.isArray(batch.guids) ? batch.guids : []
          for (const guid of guids)
            if (name !== undefined && database.has(name)) await session.delete(name, String(guid))
          await session.delete(ownStorages.imports, guidOf(batch))
        }
      },
      origin,
    )
  }
  await transact(database, (session) => session.delete(ownStorages.imports, id))
}

/** Undoes what a crash cut short: all that no live node is writing. At the start, when this node imports nothing yet, or later. */
export async function undoBrokenImports(database: Database): Promise<void> {
  const nodes = (await database.capabilities.cluster?.nodes()) ?? []
  const live = new Set(nodes.filter((node) => node.live).map(({ guid }) => guid))
  const { documents } = await database
    .session()
    .find(ownStorages.imports, search({ query: isImport, limit: 1000 }))
  const running: string[] = []
  for (const record of objectsIn(documents.value)) {
    if (live.has(textIn(record.node))) running.push(guidOf(record))
    else await undoImport(database, guidOf(record), {})
  }
  await forgetBatches(database, {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'kind', value: 'batch' },
      { kind: 'not', query: { kind: 'terms', field: 'import', values: running } },
    ],
  })
}

function batchesOf(id: string): Query {
  return { kind: 'term', field: 'import', value: id }
}

async function forgetBatches(database: Database, query: Query): Promise<void> {
  const wanted = search({ query, limit: MANY })
  for (;;) {
    const { documents, length } = await database.session().find(ownStorages.imports, wanted)
    if (length === 0) return
    await transact(database, async (session) => {
      for (const batch of objectsIn(documents.value)) await session.delete(ownStorages.imports, guidOf(batch))
    })
  }
}
