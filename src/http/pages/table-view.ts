/** A data table as it is shown: one search for its rows, and the addresses of everything that can be done with it. */
import { columnsWithCurrencies } from '../../blocks/field-currency.ts'
import { type CellContext, shownRows } from '../../blocks/table-cells.ts'
import type { PageMessages } from '../../pages/messages.ts'
import type {
  DataTable,
  PageTable,
  ShownColumn,
  TableInput,
  TableRow,
} from '../../shared/pages/page-table.ts'
import type { Session } from '../../storage/database.ts'
import { findWithTotal } from '../../storage/find-documents.ts'
import { tableReferences, tableRow, withoutSorts } from '../../storage/reference/table-references.ts'
import type { RulesOf } from './field-rules-of.ts'
import type { PageAddress } from './page-origin.ts'
import { sentNames } from './posted.ts'
import { lastNumberedPage, type TableQuery, tableParameter, tableQuery, tableSearch } from './table-query.ts'

export interface TableMaking {
  readonly session: Session
  readonly rulesOf: RulesOf
  readonly cells: CellContext
  readonly address: PageAddress
  readonly messages: PageMessages
  /** Of these documents, those whose row actions permissions refuse to the visitor. */
  readonly refused: (
    write: NonNullable<DataTable['rowWrite']>,
    guids: readonly string[],
  ) => Promise<ReadonlySet<string>>
  /** Hidden inputs of a form that is sent by POST. */
  readonly hidden: () => readonly { readonly name: string; readonly value: string }[]
}

type Pages = NonNullable<PageTable['pages']>
type Change = Readonly<Record<string, string | readonly string[] | undefined>>

export async function tableView(made: DataTable, making: TableMaking): Promise<PageTable> {
  const { session, address, messages } = making
  const references = await tableReferences(made, making.rulesOf)
  const table = withoutSorts(made, references)
  const asked = tableQuery(table, address, making.cells, references.all)
  const within = asked.after === undefined ? Math.min(asked.page, lastNumberedPage(table)) : asked.page
  const at = (page: number) => findWithTotal(session, table.storage, tableSearch(table, { ...asked, page }))
  const pagesOfAll = (total: number) => Math.max(1, Math.ceil(total / table.pageSize))
  let page = within
  let { found, total } = await at(page)
  // An address of a page behind the last one shows the last one. Rows may also go while this looks; the next one has fewer.
  while (page > pagesOfAll(total)) {
    page = pagesOfAll(total)
    ;({ found, total } = await at(page))
  }
  const count = pagesOfAll(total)
  // Only what is shown: a column stays one that is searched for words, or not.
  const columns = await columnsWithCurrencies({ ...table, columns: asked.columns }, making.rulesOf)
  const rows = await shownRows(session, found, { table, columns, references }, making.cells)
  const from = (page - 1) * table.pageSize
  const to = (changes: Change) => address.with(prefixed(table, changes))
  return {
    kind: 'table',
    id: table.id,
    caption: table.caption,
    columns: columns.map((column) => shownColumn(column, asked, to)),
    rows: await judgedRows(
      table,
      rows.map(({ document, cells }) => tableRow(table.rowLink, document, cells)),
      making,
    ),
    total,
    ...(rows.length > 0 && { from: from + 1, to: from + rows.length }),
    ...(table.empty !== undefined && { empty: table.empty }),
    pages: pagesOf(table, { page, count, next: found.next(), to }),
    ...searchForm(table, asked, address, messages),
    ...columnForm(table, asked, address),
    ...(table.exportable && { exportHref: address.with({ _export: table.id }) }),
    ...rowActions(table, making),
    live: table.live,
  }
}

async function judgedRows(
  { rowWrite, actions }: DataTable,
  rows: readonly TableRow[],
  { refused }: TableMaking,
): Promise<readonly TableRow[]> {
  if (!rowWrite || actions.length === 0) return rows
  const fixed = await refused(
    rowWrite,
    rows.map(({ key }) => key),
  )
  return rows.map((row) => (fixed.has(row.key) ? { ...row, isFixed: true } : row))
}

function prefixed(table: DataTable, changes: Change): Change {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [tableParameter(table, name), value]),
  )
}

function shownColumn(
  { field, label, format, currency, sortable }: DataTable['columns'][number],
  { sorted }: TableQuery,
  to: (changes: Change) => string,
): ShownColumn {
  const order = sorted?.field === field ? sorted.order : undefined
  const next = order === 'asc' ? `-${field}` : field
  return {
    field,
    label,
    format,
    ...(currency !== undefined && { currency }),
    ...(order !== undefined && { sorted: order }),
    ...(sortable && { sortHref: to({ sort: next, page: undefined, after: undefined }) }),
  }
}

function pagesOf(
  table: DataTable,
  at: { page: number; count: number; next: string | undefined; to: (changes: Change) => string },
): Pages {
  const { page, count, next, to } = at
  const numbered = Math.min(count, lastNumberedPage(table))
  const href = (number: number) => to({ page: number === 1 ? undefined : String(number), after: undefined })
  const near = [1, 2, page - 2, page - 1, page, page + 1, page + 2, numbered]
  const numbers = [...new Set(near)].filter((one) => one >= 1 && one <= numbered).sort((a, b) => a - b)
  const behind = page < count && next !== undefined ? to({ page: String(page + 1), after: next }) : undefined
  const following = page < numbered ? href(page + 1) : behind
  return {
    page,
    count,
    ...(page > 1 && { first: href(1) }),
    ...(page > 1 && page - 1 <= numbered && { previous: href(page - 1) }),
    ...(following !== undefined && { next: following }),
    ...(page < numbered && { last: href(numbered) }),
    numbers: numbers.map((one) => ({ page: one, href: href(one), current: one === page })),
  }
}

function searchForm(
  table: DataTable,
  { text, narrowed }: TableQuery,
  address: PageAddress,
  say: PageMessages,
): Pick<PageTable, 'search'> {
  const name = (part: string) => tableParameter(table, part)
  const value = (part: string) => address.get(name(part)) ?? ''
  const inputs: TableInput[] = table.searchable
    ? [{ name: name('q'), label: say('table.search'), type: 'text', value: text, free: true }]
    : []
  for (const column of table.columns) inputs.push(...filterInputs(column, name, value, say))
  if (inputs.length === 0) return {}
  const replaced = [...inputs.map((input) => input.name), name('page'), name('after')]
  return {
    search: {
      action: address.path,
      hidden: othersOf(address, replaced),
      inputs,
      active: narrowed,
      clearHref: address.with(Object.fromEntries(replaced.map((one) => [one, undefined]))),
    },
  }
}

function filterInputs(
  { field, label, filter, options = [] }: DataTable['columns'][number],
  name: (part: string) => string,
  value: (part: string) => string,
  say: PageMessages,
): TableInput[] {
  const any = { value: '', label: say('table.any') }
  const input = (part: string, rest: Pick<TableInput, 'label' | 'type' | 'options'>): TableInput => ({
    name: name(part),
    value: value(part),
    ...rest,
  })
  switch (filter) {
    case 'number':
    case 'date':
      return [
        input(`from.${field}`, { type: filter, label: say('table.from', { column: label }) }),
        input(`to.${field}`, { type: filter, label: say('table.to', { column: label }) }),
      ]
    case 'boolean': {
      const both = [
        { value: 'true', label: say('table.yes') },
        { value: 'false', label: say('table.no') },
      ]
      return [input(`is.${field}`, { type: 'choice', label, options: [any, ...both] })]
    }
    case 'choice':
      return [input(`is.${field}`, { type: 'choice', label, options: [any, ...options] })]
    case 'text':
      return [input(`is.${field}`, { type: 'text', label: say('table.filter', { column: label }) })]
    default:
      return []
  }
}

function columnForm(
  table: DataTable,
  { columns }: TableQuery,
  address: PageAddress,
): Pick<PageTable, 'columnChoice'> {
  if (table.columns.length < 2) return {}
  const name = tableParameter(table, 'cols')
  const inputs = table.columns.map(
    ({ field, label }): TableInput => ({
      name,
      label,
      type: 'check',
      value: field,
      checked: columns.some((column) => column.field === field),
    }),
  )
  return { columnChoice: { action: address.path, hidden: othersOf(address, [name]), inputs } }
}

function rowActions(table: DataTable, { address, hidden }: TableMaking): Pick<PageTable, 'actions'> {
  if (table.actions.length === 0) return {}
  return {
    actions: {
      action: address.href,
      hidden: [...hidden(), { name: sentNames.table, value: table.id }],
      row: table.actions.filter((action) => action.for !== 'rows'),
      rows: table.actions.filter((action) => action.for !== 'row'),
      rowName: sentNames.row,
      rowsName: sentNames.rows,
      bulkName: sentNames.bulk,
    },
  }
}

/** What else the address says; a form that is sent by GET forgets what it does not hold. */
function othersOf(address: PageAddress, except: readonly string[]) {
  return [...address.query]
    .filter(([name]) => !except.includes(name))
    .map(([name, value]) => ({ name, value }))
}
