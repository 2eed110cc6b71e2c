/** A file of documents on its way into a storage. */
import type { Imported, ImportPreview, Undone } from '../../../../shared/api/data/documents.ts'
import { XLSX } from '../../../../shared/files/table-types.ts'
import { typeOfFile } from '../../../../shared/files/type-of-file.ts'
import { errorFromReply } from '../../../api/api-error.ts'
import { address, call, studioHeaders } from '../../../api/request.ts'
import { forgetDocuments } from '../../../api/storages.ts'
import { upload } from '../../../api/upload.ts'

export interface ImportDraft {
  readonly storage: string
  readonly file: File
  /** Column → field; null leaves it out. */
  readonly mapping: Readonly<Record<string, string | null>>
  readonly decimal: 'point' | 'comma'
  readonly skipInvalid: boolean
}

/** So much of the file is sent for a preview; rows end where the last line of it ends. */
const PREVIEW_BYTES = 512 * 1024

export function typeOf({ name }: Pick<File, 'name'>): string {
  return typeOfFile(name)
}

function queryOf({ mapping, decimal }: Pick<ImportDraft, 'mapping' | 'decimal'>) {
  return { decimal, ...(Object.keys(mapping).length > 0 && { mapping: JSON.stringify(mapping) }) }
}

export async function previewImport(
  draft: Omit<ImportDraft, 'skipInvalid'>,
  signal: AbortSignal,
): Promise<ImportPreview> {
  const { storage, file } = draft
  const reply = await fetch(
    address(`/_system/storages/${storage}/documents/import/preview`, queryOf(draft)),
    {
      method: 'POST',
      headers: { ...studioHeaders(), 'content-type': typeOf(file) },
      body: await beginning(file),
      signal,
    },
  )
  if (!reply.ok) throw errorFromReply(reply.status, await reply.text())
  const preview: ImportPreview = await reply.json()
  return preview
}

async function beginning(file: File): Promise<Blob> {
  // The list of what is in a workbook is at its end.
  if (file.size <= PREVIEW_BYTES || typeOf(file) === XLSX) return file
  const bytes = new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer())
  const end = bytes.lastIndexOf(10)
  return new Blob([end < 0 ? bytes : bytes.slice(0, end + 1)])
}

export async function importFile(
  draft: ImportDraft,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Imported> {
  const { storage, file, skipInvalid } = draft
  try {
    return await upload<Imported>({
      path: `/_system/storages/${storage}/documents/import`,
      query: { ...queryOf(draft), skip_invalid: skipInvalid, undo: true },
      body: file,
      type: typeOf(file),
      onProgress,
      signal,
    })
  } finally {
    await forgetDocuments(storage)
  }
}

export async function undoImport(storage: string, id: string): Promise<Undone> {
  const undone = await call<Undone>('DELETE', `/_system/storages/${storage}/documents/imports/${id}`)
  await forgetDocuments(storage)
  return undone
}
