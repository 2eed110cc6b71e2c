/**
 * Notes of asset files that may have no record. A note is written before a file is stored, and in the transaction that
 * deletes the file's record. It is deleted in the transaction that creates the record, or when the file is deleted. The
 * notes that a crash leaves name the files without a record (`sweep-assets.ts`). Files of requests have further notes (`temporary-uploads.ts`).
 *
 * Files are not listed to delete those without a record: a second database on the same bucket, such as a copy of the first
 * one or one that was restored from a backup, would then delete files of the first.
 */

import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'

export interface AssetNote {
  readonly guid: string
  /** Where the file is, or would be. */
  readonly place: string
  /** Guid of the asset, if its request has not ended (`temporary-uploads.ts`); there is no place then. */
  readonly upload?: string
}

export function openAssetNotes(database: Database): Promise<void> {
  return database.ensure(systemStorages.assetNotes)
}

export async function noteFile(session: Session, place: string): Promise<AssetNote> {
  return {
    guid: guidOf(documentOf(await session.create(systemStorages.assetNotes, setFields({ place })))),
    place,
  }
}

/** Does nothing when it is forgotten already. */
export async function forgetNote(session: Session, { guid }: AssetNote): Promise<void> {
  await session.delete(systemStorages.assetNotes, guid)
}

/** At most 100 that were made before a time (Unix seconds), the oldest first. */
export async function notesBefore(database: Database, time: number): Promise<readonly AssetNote[]> {
  const query = { kind: 'range', field: '_meta.created', bounds: { lt: time } } as const
  const sort = [{ field: '_meta.created', order: 'asc', missing: 'last' }] as const
  const found = await database.session().find(systemStorages.assetNotes, search({ query, sort, limit: 100 }))
  return documentsOf(found).map(({ place, upload, ...note }) => ({
    guid: guidOf(note),
    place: textIn(place),
    ...(typeof upload === 'string' && { upload }),
  }))
}
