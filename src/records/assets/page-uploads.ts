/**
 * Files that were sent with forms of pages, and the documents that they belong to. A page gives addresses of the files of
 * the documents that it shows, and a file's guid is no secret: it is in every JSON reply of such a document. So the
 * guid alone opens nothing. The first documents that are written with a new file, in the run of its form, are noted in
 * the asset's record, and only they show it.
 *
 * A file of a form that no document was written with in that run (a job does it later, or it was sent before there were
 * notes) is shown by any document that holds its guid. Other private files are shown by none.
 */

import type { JsonObject } from '../../shared/json.ts'
import { search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'

export const PAGE_UPLOADS = 'page_uploads'

/** In one record. A flow that copies a new file into more documents shows it on the first ones. */
const MOST_DOCUMENTS = 20
/** Of one page: 500 rows with two files each. */
const MOST_FILES = 1_000

/** A file on a page: which asset, and the document that holds it. */
export interface PrivateFile {
  readonly asset: string
  readonly document: string | undefined
}

/** Notes the document as one that shows the file, in the transaction that writes it. */
export async function noteDocument(session: Session, asset: string, document: string): Promise<void> {
  const stored = await session.get(systemStorages.assets, asset)
  if (!stored) return
  const recorded = textsIn(documentOf(stored).documents)
  if (recorded.includes(document) || recorded.length >= MOST_DOCUMENTS) return
  await session.update(systemStorages.assets, asset, [
    { op: 'set', field: 'documents', value: [...recorded, document] },
  ])
}

/** Tells which of the files a page may give an address. */
export async function filesToShow(
  session: Session,
  held: readonly PrivateFile[],
): Promise<(file: PrivateFile) => boolean> {
  const guids = [...new Set(held.map(({ asset }) => asset))].slice(0, MOST_FILES)
  if (guids.length === 0) return () => false
  const query = { kind: 'terms', field: '_meta.guid', values: guids } as const
  const found = documentsOf(await session.find(systemStorages.assets, search({ query, limit: guids.length })))
  const records = new Map(found.map((record) => [guidOf(record), record]))
  return ({ asset, document }) => {
    const record = records.get(asset)
    return record !== undefined && mayShow(record, document)
  }
}

function mayShow(record: JsonObject, document: string | undefined): boolean {
  if (typeof record.public_path === 'string') return true
  if (textIn(record.directory) !== PAGE_UPLOADS) return false
  const recorded = textsIn(record.documents)
  return recorded.length === 0 || (document !== undefined && recorded.includes(document))
}
