import { open, writeFile } from 'node:fs/promises'
import { typeOfFile } from '../../shared/files/file-types.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { fileOfReasons } from '../../shared/rows/reasons-file.ts'
import type { TableCell } from '../../shared/rows/recognized-table.ts'
import type { Terminal } from '../command.ts'
import { Refused, recordsOf } from '../management.ts'
import { withManagement } from '../open-management.ts'

interface RowsFile {
  readonly storage: string
  readonly file: string
  readonly url: string | undefined
  readonly skip: boolean
  readonly mapping?: string | undefined
  readonly decimal?: string | undefined
  readonly dates?: string | undefined
  readonly separator?: string | undefined
  readonly formats?: string | undefined
  readonly sheet?: string | undefined
  readonly header?: string | undefined
  /** Where refused lines are written. */
  readonly refused?: string | undefined
}

/** What `quoin rows import` does. Gives its exit code. */
export async function runRowsImport(
  { storage, file, url, skip, refused, ...reading }: RowsFile,
  terminal: Terminal,
): Promise<number> {
  const query = new URLSearchParams({ wrong_cells: 'true', ...(skip && { skip_invalid: 'true' }) })
  for (const [name, value] of Object.entries(reading)) if (value !== undefined) query.set(name, value)
  const path = `/_system/storages/${encodeURIComponent(storage)}/documents/import?${query}`
  const handle = await open(file).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`There is no file ${file}.`) : error
  })
  try {
    const imported = await withManagement(terminal, url, (management) =>
      management.upload(path, { type: typeOfFile(file), body: handle.createReadStream() }),
    )
    if (isJsonObject(imported)) await writeRefused(refused, imported.problems, imported.columns)
    return report(imported, terminal)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.status === 404) throw new Error(`There is no storage ${JSON.stringify(storage)}.`)
    const { lines, columns } = error.details
    complainOf(lines, columns, terminal)
    await writeRefused(refused, lines, columns)
    throw error
  } finally {
    await handle.close()
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function report(imported: JsonValue, { print, complain }: Terminal): number {
  const { imported: count, refused = 0, problems, columns } = isJsonObject(imported) ? imported : {}
  complainOf(problems, columns, { complain })
  print(`Imported ${documents(Number(count))}.`)
  if (Number(refused) > 0) complain(`Left out ${lines(Number(refused))}, of which at most 100 are listed.`)
  return 0
}

/** Lines that are printed; a file has more. */
const MOST_PRINTED = 100

/** `line 3: age: The value of Age is not a number. It is "old".` */
function complainOf(
  problems: JsonValue | undefined,
  columns: JsonValue | undefined,
  { complain }: Pick<Terminal, 'complain'>,
): void {
  const fieldsOf = recordsOf(columns ?? []).map(({ field }) => field)
  for (const { line, fields, message, cells } of recordsOf(problems ?? []).slice(0, MOST_PRINTED)) {
    const names = Array.isArray(fields) ? fields : []
    const named = names.length > 0 ? `${names.join(', ')}: ` : ''
    const [at = -1] = names.map((name) => fieldsOf.indexOf(name)).filter((one) => one >= 0)
    const cell = Array.isArray(cells) ? cells[at] : undefined
    const value = cell === undefined || cell === '' ? '' : ` It is ${JSON.stringify(cell).slice(0, 60)}.`
    complain(`line ${line}: ${named}${message}${value}`)
  }
}

async function writeRefused(
  path: string | undefined,
  problems: JsonValue | undefined,
  columns: JsonValue | undefined,
): Promise<void> {
  if (path === undefined) return
  const names = recordsOf(columns ?? []).map(({ column }) => ({ column: String(column) }))
  const lines = recordsOf(problems ?? []).map(({ line, message, reasons, cells }) => ({
    line: Number(line),
    message: String(message),
    ...(isJsonObject(reasons) && {
      reasons: Object.fromEntries(Object.entries(reasons).map(([name, reason]) => [name, String(reason)])),
    }),
    ...(Array.isArray(cells) && { cells: cells.filter(isTableCell) }),
  }))
  await writeFile(path, fileOfReasons(names, lines).text)
}

function isTableCell(value: JsonValue): value is TableCell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function documents(count: number): string {
  return count === 1 ? '1 document' : `${count.toLocaleString('en-US')} documents`
}

function lines(count: number): string {
  return count === 1 ? '1 line' : `${count.toLocaleString('en-US')} lines`
}
