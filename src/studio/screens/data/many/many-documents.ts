import type { Document, DocumentSearch, ManyChanged } from '../../../../shared/api/data/documents.ts'
import { call } from '../../../api/request.ts'
import { findDocuments, forgetDocuments } from '../../../api/storages.ts'
import { valueAt } from '../documents/document-shape.ts'
import type { UndoStep } from '../undo/undo-step.ts'

/** What of a storage is selected: documents by guid, or all that a search finds. */
export interface SelectedDocuments {
  readonly storage: string
  readonly count: number
  readonly guids: ReadonlySet<string>
  /** Given where all are selected that it finds. */
  readonly all: Pick<DocumentSearch, 'query' | 'filters'> | undefined
}

/** So many go in one transaction, all or none. */
export const AT_ONCE = 1_000

export type ManyWay =
  | { readonly way: 'update'; readonly set: Readonly<Record<string, unknown>> }
  | { readonly way: 'remove'; readonly hard: boolean }

/**
 * Changes them at once, or by a job whose guid is given. `step`: how it is undone, where it is not by a job and the documents are
 * not deleted; they are read before for that.
 */
export async function changeMany(
  selected: SelectedDocuments,
  change: ManyWay,
): Promise<{ readonly changed: ManyChanged; readonly step: UndoStep | undefined }> {
  const isHard = change.way === 'remove' && change.hard
  if (isHard || selected.count > AT_ONCE) return { changed: await send(selected, change), step: undefined }
  const documents = await read(selected)
  const guids = new Set(documents.map(({ _meta }) => _meta.guid))
  const changed = await send({ ...selected, guids, all: undefined, count: guids.size }, change)
  return { changed, step: stepOf(documents, change) }
}

function stepOf(documents: readonly Document[], change: ManyWay): UndoStep {
  if (change.way === 'remove') return { kind: 'removed', guids: documents.map(({ _meta }) => _meta.guid) }
  const after = new Map(Object.entries(change.set))
  const changes = documents.map((document) => ({
    guid: document._meta.guid,
    before: new Map([...after.keys()].map((name) => [name, valueAt(document, name)])),
    after,
  }))
  return { kind: 'changed', changes }
}

async function read({ storage, guids, all }: SelectedDocuments): Promise<readonly Document[]> {
  const wanted = all ?? { filters: { '_meta.guid': [...guids] } }
  return (await findDocuments(storage, { ...wanted, limit: AT_ONCE }, new AbortController().signal)).records
}

async function send(selected: SelectedDocuments, change: ManyWay): Promise<ManyChanged> {
  const { storage, guids, all, count } = selected
  const { query, filters = {} } = all ?? {}
  const wanted = all ? { filters, ...(query === undefined ? {} : { query }) } : { guids: [...guids] }
  const body = {
    ...wanted,
    in_background: all !== undefined && count > AT_ONCE,
    ...(change.way === 'update' ? { set: change.set } : { hard: change.hard, include_removed: change.hard }),
  }
  const changed = await call<ManyChanged>(
    'POST',
    `/_system/storages/${storage}/documents/${change.way}-many`,
    { body },
  )
  await forgetDocuments(storage)
  return changed
}
