/** A file of documents on its way into a storage. */
import type { Imported, ImportPreview, Undone } from '../../../../shared/api/data/documents.ts'
import { NDJSON, typeOfFile, XLSX } from '../../../../shared/files/file-types.ts'
import { guidSource } from '../../../../shared/guid.ts'
import type { ColumnFormat } from '../../../../shared/rows/recognized-table.ts'
import { call } from '../../../api/request.ts'
import { forgetDocuments } from '../../../api/storages.ts'
import { upload } from '../../../api/upload.ts'

/** How a file is read, as far as its user says it; the rest is recognized. */
export interface FileReading {
  readonly sheet?: string
  /** The line of the names of columns. */
  readonly header?: number
  /** Column → field; null leaves it out. */
  readonly mapping: Readonly<Record<string, string | null>>
  readonly formats: Readonly<Record<string, ColumnFormat>>
}

export interface ImportDraft {
  readonly storage: string
  readonly file: File
  readonly reading: FileReading
  readonly preview: ImportPreview
}

/** So much of the file is sent for a preview, and as much as the server takes where that has no whole row. */
const PREVIEW_BYTES = 512 * 1024
const MOST_PREVIEW_BYTES = 4 * 1024 * 1024
const separators: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab' }

function typeOf({ name }: Pick<File, 'name'>): string {
  return typeOfFile(name)
}

/** The columns whose texts may mean two things, until one of them is chosen. */
export function openColumns({ columns }: ImportPreview, { formats }: FileReading): readonly string[] {
  return columns
    .filter(({ column, format }) => format && !format.format && !Object.hasOwn(formats, column))
    .map(({ column }) => column)
}

/** The format of each column that has one: what was chosen, else what was recognized. */
function formatsOf({ columns }: ImportPreview, { formats }: FileReading) {
  const recognized = columns.flatMap(({ column, format }) =>
    format?.format ? [[column, format.format] as const] : [],
  )
  const known = columns.flatMap(({ column }) => {
    const chosen = Object.hasOwn(formats, column) ? formats[column] : undefined
    return chosen ? [[column, chosen] as const] : []
  })
  return Object.fromEntries([...recognized, ...known])
}

function columnsQuery(mapping: FileReading['mapping'], formats: FileReading['formats']) {
  return {
    ...(Object.keys(mapping).length > 0 && { mapping: JSON.stringify(mapping) }),
    ...(Object.keys(formats).length > 0 && { formats: JSON.stringify(formats) }),
  }
}

interface Previewed {
  readonly storage: string
  readonly file: File
  readonly reading: FileReading
}

export async function previewImport(
  { storage, file, reading }: Previewed,
  signal: AbortSignal,
): Promise<ImportPreview> {
  const { mapping, formats, ...place } = reading
  const query = { ...place, recognize: true, ...columnsQuery(mapping, formats) }
  const path = `/_system/storages/${storage}/documents/import/preview`
  const type = typeOf(file)
  const send = (body: Blob, beginning: boolean) =>
    call<ImportPreview>('POST', path, { query: { ...query, beginning }, body, signal })
  // The list of what is in a workbook is at its end.
  if (file.size <= PREVIEW_BYTES || type === XLSX) return await send(file.slice(0, file.size, type), false)
  const preview = await send(file.slice(0, PREVIEW_BYTES, type), true)
  return preview.rows.length > 0
    ? preview
    : await send(file.slice(0, MOST_PREVIEW_BYTES, type), file.size > MOST_PREVIEW_BYTES)
}

interface Sending {
  readonly onProgress: (share: number) => void
  readonly signal: AbortSignal
}

/** What names an import: sent again with it where the answer was lost, it is not done twice. */
export const newImport = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))

/** All or none. */
export async function importDocuments(
  storage: string,
  documents: readonly object[],
  id: string,
): Promise<Imported> {
  const body = new Blob([documents.map((one) => JSON.stringify(one)).join('\n')], { type: NDJSON })
  try {
    return await call<Imported>('POST', `/_system/storages/${storage}/documents/import`, {
      query: { id },
      body,
    })
  } finally {
    await forgetDocuments(storage)
  }
}

/** `skip`: lines that are refused are left out; else one refuses all. */
export function importFile(
  draft: ImportDraft,
  { skip, id }: { readonly skip: boolean; readonly id: string },
  sending: Sending,
): Promise<Imported> {
  const { file, reading, preview } = draft
  const separator = separators[preview.dialect?.separator ?? '']
  const { sheet, header = preview.header } = reading
  const query = {
    ...columnsQuery(reading.mapping, formatsOf(preview, reading)),
    ...(sheet !== undefined && { sheet }),
    ...(header !== undefined && { header }),
    ...(separator !== undefined && { separator }),
    skip_invalid: skip,
    id,
  }
  return sent(draft, { query, body: file, type: typeOf(file) }, sending)
}

/** Lines that were mended, those that are still wrong left out. */
export function importLines(
  draft: ImportDraft,
  { text, id }: { readonly text: string; readonly id: string },
  sending: Sending,
): Promise<Imported> {
  const { reading, preview } = draft
  const isTable = preview.columns.length > 0
  const query = {
    ...columnsQuery(reading.mapping, formatsOf(preview, reading)),
    ...(isTable && { rows: 'arrays' }),
    skip_invalid: true,
    id,
  }
  return sent(draft, { query, body: new Blob([text]), type: NDJSON }, sending)
}

async function sent(
  { storage }: ImportDraft,
  { query, ...body }: { readonly query: object; readonly body: Blob; readonly type: string },
  sending: Sending,
): Promise<Imported> {
  try {
    return await upload<Imported>({
      path: `/_system/storages/${storage}/documents/import`,
      query: { ...query, wrong_cells: true, undo: true },
      ...body,
      ...sending,
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
