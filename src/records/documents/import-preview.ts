import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { createRows } from './import-batch.ts'
import { type ImportRow, type LineProblem, lineProblem } from './import-rows.ts'
import { type FileReading, type FileTable, fileTable, rowsOf } from './table-import-rows.ts'

const ROWS = 20

export interface PreviewedRow {
  readonly line: number
  /** As it would be stored, with its defaults; undefined if it is refused. */
  readonly document?: JsonObject
  readonly problem?: LineProblem
}

export interface ImportPreview extends FileTable {
  readonly rows: readonly PreviewedRow[]
}

/** What the first rows of a file would become. */
export async function previewRows(
  session: Session,
  name: string,
  path: string,
  reading: FileReading,
): Promise<ImportPreview> {
  const table = await fileTable(path, reading)
  const shown: PreviewedRow[] = []
  try {
    for await (const row of rowsOf(reading)(path)) {
      shown.push(await previewed(session, name, row))
      if (shown.length === ROWS) break
    }
  } finally {
    await session.transaction.rollback()
  }
  return { ...table, rows: shown }
}

async function previewed(session: Session, name: string, row: ImportRow): Promise<PreviewedRow> {
  let problem: LineProblem | undefined
  const note = (error: unknown) => {
    problem = lineProblem(row.line, error)
  }
  const [created] = await createRows(session, name, [row], (_row, error) => note(error)).catch(
    (error: unknown) => {
      if (!(error instanceof QuoinError) || error.code !== 'DENIED_BY_RULE') throw error
      note(error)
      return []
    },
  )
  if (problem || !created) return { line: row.line, ...(problem && { problem }) }
  const { _meta, ...document } = documentOf(created.document)
  return { line: row.line, document }
}
