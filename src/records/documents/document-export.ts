import { fieldCell, nameOrGuid } from '../../blocks/rows/field-cell.ts'
import {
  type Cell,
  type ColumnCurrencies,
  type DateCell,
  MOST_SHEET_ROWS,
  xlsxFile,
} from '../../blocks/rows/xlsx-file.ts'
import { begun, yieldToEventLoop } from '../../shared/cooperative.ts'
import { csvCell, markedText } from '../../shared/csv-cell.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { matchAll, type Query, type SortKey, search } from '../../shared/query.ts'
import type { Database, Found, Session } from '../../storage/database.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { cellOf, isBehind, rowDocuments } from '../../storage/reference/table-references.ts'
import type { PermittedDatabase } from '../../storage/validated.ts'

/** Bytes that a page should have: what is in memory at a time is a few of them. */
const PAGE_BYTES = 1024 * 1024
const MOST = 500

/** What cells are read from: fields of the document, and of those that it refers to. */
export interface ExportColumns {
  readonly fields: readonly string[]
  readonly references: readonly Reference[]
  /** Of amounts, by column. */
  readonly currencies?: ColumnCurrencies
  /** Of the columns that are fields, by column. */
  readonly rules?: readonly (FieldRule | undefined)[]
  /** By the field of a reference: the unique field of the other document that is written in place of its guid. */
  readonly names?: ReadonlyMap<string, string>
}

/** How a document is written. */
export interface ExportLines {
  readonly head: string
  readonly of: (document: JsonObject) => string
}

export interface Exported {
  /** Which documents; all present ones if not given. */
  readonly query?: Query
  /** The oldest first if not given. */
  readonly sort?: readonly SortKey[]
  readonly lines?: ExportLines
  readonly columns?: ExportColumns
}

const oldestFirst: readonly SortKey[] = [{ field: '_meta.cms', order: 'asc', missing: 'last' }]
const ndjsonLines: ExportLines = { head: '', of: (document) => `${JSON.stringify(document)}\n` }

/** Columns as a spreadsheet reads them; lists and objects are JSON. */
export function csvLines(columns: ExportColumns): ExportLines {
  const cells = cellsOf(columns)
  const line = (texts: readonly string[]) => `${texts.join(',')}\r\n`
  return {
    // Spreadsheets take the text for UTF-8 then.
    head: `\ufeff${line(columns.fields.map(csvCell))}`,
    of: (document) => line(cells(document).map(csvValue)),
  }
}

function cellsOf({ fields, references, names = new Map() }: ExportColumns) {
  const known = { all: references, names: new Map<string, string>() }
  return (document: JsonObject) =>
    fields.map((field) => {
      const name = names.get(field)
      return name === undefined ? cellOf(document, field, known) : nameOrGuid(document, field, name)
    })
}

function csvValue(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return csvCell(value)
  if (typeof value === 'string') return csvCell(markedText(value))
  return csvCell(typeof value === 'boolean' ? String(value) : JSON.stringify(value))
}

/** Present documents of a storage, one a line, in pieces of some lines. Throws what its search throws before the first of them. */
export async function exportDocuments(
  database: PermittedDatabase,
  name: string,
  { lines = ndjsonLines, ...requested }: Exported = {},
): Promise<AsyncGenerator<string, void>> {
  const pages = await begun(pagesOf(database, name, requested))
  return (async function* () {
    if (lines.head !== '') yield lines.head
    for await (const page of pages) yield page.map(lines.of).join('')
  })()
}

/** The same as a workbook. INVALID_QUERY for more rows than a sheet holds: `count` of them are there before the first byte. */
export async function exportSheet(
  database: PermittedDatabase,
  name: string,
  requested: Omit<Exported, 'lines' | 'columns'>,
  { columns, count }: { readonly columns: ExportColumns; readonly count: number },
): Promise<AsyncGenerator<Buffer, void>> {
  if (count >= MOST_SHEET_ROWS)
    throw new QuoinError(
      'INVALID_QUERY',
      `A sheet holds ${MOST_SHEET_ROWS - 1} rows, and ${count} documents match. Filter them, or export CSV.`,
    )
  return xlsxFile(
    sheetRows(await begun(pagesOf(database, name, { ...requested, columns })), columns),
    columns.currencies,
  )
}

async function* sheetRows(
  pages: AsyncIterable<readonly JsonObject[]>,
  columns: ExportColumns,
): AsyncGenerator<readonly (Cell | DateCell)[], void> {
  const cells = cellsOf(columns)
  const form = { isSheet: true, keepsBlanks: true }
  yield columns.fields
  let rows = 1
  for await (const page of pages)
    for (const document of page) {
      // Documents that came while it was written.
      if (rows === MOST_SHEET_ROWS) return
      rows += 1
      yield cells(document).map((value, at) => fieldCell(value, columns.rules?.[at] ?? untyped, form))
    }
}

/** What no field says the type of is text, or a list. */
const untyped = { type: 'array', limits: {} } as const

/**
 * Each page is a search of its own behind the last document of the page before: no transaction is held open while a slow
 * client reads. So every document that is there from beginning to end comes exactly once; one that is written meanwhile
 * comes as it was before or after, and a new one may come.
 */
async function* pagesOf(
  database: Database,
  name: string,
  { query = matchAll, sort = [], columns = { fields: [], references: [] } }: Omit<Exported, 'lines'>,
): AsyncGenerator<readonly JsonObject[], void> {
  const session = database.session()
  const { fields, references, names } = columns
  const behind = fields
    .filter((field) => isBehind(field, references) || names?.has(field))
    .map((field) => ({ field }))
  const referring = { all: references, names: new Map<string, string>() }
  // Documents may be of 16 MiB each: the first page is small, and the next ones as large as the last one allows.
  let limit = 4
  let after: string | undefined
  do {
    const found: Found = await pageOf(session, name, {
      query,
      sort: sort.length > 0 ? sort : oldestFirst,
      limit,
      ...(after !== undefined && { after }),
    })
    const page = await rowDocuments(session, found, behind, referring)
    if (page.length > 0) yield page
    // SQLite answers at once, and so does a fast client: others must have their turn in between.
    await yieldToEventLoop()
    // A page that had to be made smaller is full by its own limit, and says itself where it ended.
    after = found.next()
    const fitting = Math.floor((limit * PAGE_BYTES) / Math.max(found.documents.text.length, 1))
    limit = Math.max(1, Math.min(MOST, limit * 2, fitting))
  } while (after !== undefined)
}

async function pageOf(
  session: Session,
  name: string,
  { limit, ...page }: Parameters<typeof search>[0] & { readonly limit: number },
): Promise<Found> {
  try {
    return await session.find(name, search({ ...page, limit }))
  } catch (error) {
    // Large documents behind many small ones can be more than the engine joins to one text.
    const tooLarge = error instanceof QuoinError && error.code === 'INVALID_QUERY'
    if (!tooLarge || limit === 1) throw error
    return session.find(name, search({ ...page, limit: 1 }))
  }
}
