import type { DocumentSearch, ManyChanged } from '../../../../shared/api/documents.ts'
import { call } from '../../../api/request.ts'
import { forgetDocuments } from '../../../api/storages.ts'

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

/** Changes them at once, or by a job whose guid is given. */
export async function changeMany(selected: SelectedDocuments, change: ManyWay): Promise<ManyChanged> {
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
