/** What a page has beside itself, at its own address and for visitors with access: a table as CSV, and events. */

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayEnter } from '../../access/scopes.ts'
import { type CellContext, type ShownRow, shownRows } from '../../blocks/table-cells.ts'
import { readMoment } from '../../pages/format.ts'
import { begun, yieldToEventLoop } from '../../shared/cooperative.ts'
import { csvCell } from '../../shared/csv-cell.ts'
import { timeWithOffset } from '../../shared/dates/dates.ts'
import { QuoinError } from '../../shared/errors.ts'
import { instantOf } from '../../shared/fields/value-forms.ts'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { ShownPage } from '../../shared/pages/page-content.ts'
import type { DataTable, TableColumn } from '../../shared/pages/page-table.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { tableReferences, withoutSorts } from '../../storage/reference/table-references.ts'
import { dataTablesOf } from './complete-page.ts'
import type { PageServices } from './open-page-services.ts'
import { type PageAddress, pageAddress } from './page-origin.ts'
import type { FoundPage } from './page-routes.ts'
import { permittedPage, visitorOf } from './permitted-page.ts'
import { liveTables, zoneOf } from './show-page.ts'
import { tableQuery } from './table-query.ts'

// A data table as CSV: all its rows on all pages, as the visitor has narrowed and sorted it, in the columns they chose.

/** Rows of one search; each is read behind the last one, and no transaction is held open while a slow client reads. */
const PAGE = 500
/** Spreadsheets take the text for UTF-8 then. */
const BYTE_ORDER_MARK = '\ufeff'

type CsvServices = Pick<PageServices, 'rulesOf'> & { readonly session: Session; readonly cells: CellContext }

async function sendCsv(
  reply: FastifyReply,
  services: CsvServices,
  table: DataTable,
  address: PageAddress,
): Promise<FastifyReply> {
  const lines = await begun(csvLines(services, table, address))
  return reply
    .header('content-disposition', `attachment; filename="${table.id}.csv"`)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .type('text/csv; charset=utf-8; header=present')
    .send(Readable.from(lines, { objectMode: false }))
}

/** The header with the first rows, and then the others in pieces of some lines. */
async function* csvLines(
  { session, cells, rulesOf }: CsvServices,
  made: DataTable,
  address: PageAddress,
): AsyncGenerator<string, void> {
  const references = await tableReferences(made, rulesOf)
  const table = withoutSorts(made, references)
  const { query, sort, columns } = tableQuery(table, address, cells, references.all)
  let head = `${BYTE_ORDER_MARK}${columns.map(({ label }) => csvCell(label)).join(',')}\r\n`
  let after: string | undefined
  do {
    const place = after === undefined ? {} : { after }
    const found = await session.find(table.storage, search({ query, sort, limit: PAGE, ...place }))
    const rows = await shownRows(session, found, { table, columns, references }, cells)
    const lines = rows.map((row) => `${lineOf(columns, row, cells.timeZone)}\r\n`)
    const text = head + lines.join('')
    head = ''
    if (text !== '') yield text
    await yieldToEventLoop()
    after = found.next()
  } while (after !== undefined)
}

function lineOf(columns: readonly TableColumn[], { cells }: ShownRow, zone: string): string {
  return columns.map((column, at) => csvCell(plain(column, cells[at], zone))).join(',')
}

/** Times are written in the visitor's time zone, with its offset; the rest is what is stored. */
function plain({ format }: TableColumn, value: JsonValue | undefined, zone: string): string | number {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') {
    const isDate = format === 'date' || format === 'date_time' || format === 'relative_time'
    const at = isDate ? readMoment(value)?.getTime() : undefined
    return (at === undefined ? undefined : timeText(format, at, zone)) ?? value
  }
  if (typeof value === 'string') {
    const at = format === 'date_time' || format === 'relative_time' ? instantOf(value) : undefined
    return (at === undefined ? undefined : timeText(format, at, zone)) ?? value
  }
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join('; ')
  return isJsonObject(value) && typeof value.name === 'string' ? value.name : JSON.stringify(value)
}

/** Undefined for seconds that are no date. */
function timeText(format: TableColumn['format'], at: number, zone: string): string | undefined {
  if (Number.isNaN(new Date(at).getTime())) return undefined
  const text = timeWithOffset(at, zone)
  return format === 'date' ? text.slice(0, 10) : text
}

/** Sends it if the address asks for it (`_export=<table>`, `_events=<mark>`); false for the page itself. */
export async function sendOtherView(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { page, blueprint }: FoundPage,
  made: ShownPage,
): Promise<boolean> {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const [requested, since] = [query.get('_export'), query.get('_events')]
  if (requested === null && since === null) return false
  const { permissions } = services.flows
  const visitor = visitorOf(request)
  const shown = await permittedPage(made, { permissions, rulesOf: services.rulesOf }, visitor)
  if (requested !== null) {
    const table = dataTablesOf(shown.content).find(({ id, exportable }) => id === requested && exportable)
    if (!table) throw new QuoinError('NOT_FOUND', 'The page has no such table.')
    const session = permissions.session(services.database.session(), visitor)
    await sendCsv(
      reply,
      {
        session,
        cells: { ...services.cells(), timeZone: zoneOf(request, services) },
        rulesOf: services.rulesOf,
      },
      table,
      pageAddress(request.url),
    )
    return true
  }
  if (since === null) return false
  const tables = liveTables(shown)
  // A browser that gets this does not ask again.
  if (tables.length === 0) {
    reply.code(204).send()
    return true
  }
  const { accessToken } = request
  services.events.open(reply, {
    tables,
    since,
    ip: request.ip,
    blueprint,
    async mayStay() {
      const identity = accessToken === undefined ? undefined : await services.access.identify(accessToken)
      if (identity?.key?.mayCall(request.method, request.url) === false) return false
      return mayEnter(page.scopes, identity) && (request.identity === undefined || identity !== undefined)
    },
  })
  return true
}
