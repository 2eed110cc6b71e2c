import { andThen } from '../../shared/maybe-promise.ts'
import { everyNode, type PageNode, withChildren } from '../../shared/pages/page-content.ts'
import type { DataTable, PageTable } from '../../shared/pages/page-table.ts'
import { search } from '../../shared/query.ts'
import { tableReferences } from '../../storage/reference/table-references.ts'
import { tableRow } from '../../storage/reference/table-row.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { columnsWithCurrencies, nodesWithCurrencies } from '../field-currency.ts'
import { nodesWithNames } from '../reference-names.ts'
import { shownRows } from '../table-cells.ts'

/** Each of them is a search. */
const MOST_TABLES = 10

type TableContext = Pick<FlowContext, 'session' | 'rules' | 'timeZone' | 'locale' | 'now' | 'log'>

/** The nodes with the first page of each data table in its place. Throws PinError. */
export async function withRows(
  written: readonly PageNode[],
  context: TableContext,
): Promise<readonly PageNode[]> {
  const named = await nodesWithNames(written, { session: context.session, rulesOf: context.rules })
  const nodes = await nodesWithCurrencies(named, context.rules)
  const found = new Map<PageNode, PageTable>()
  for (const node of everyNode(nodes)) {
    if (node.kind !== 'datatable' || found.has(node)) continue
    if (found.size === MOST_TABLES)
      throw new PinError('state', `holds more than ${MOST_TABLES} data tables: send several mails`)
    found.set(node, await firstPage(node, context))
  }
  const filled = (some: readonly PageNode[]): readonly PageNode[] =>
    some.map((node) => found.get(node) ?? withChildren(node, filled))
  return found.size === 0 ? nodes : filled(nodes)
}

async function firstPage(table: DataTable, context: TableContext): Promise<PageTable> {
  const { session, rules, timeZone, locale } = context
  const shown = table.columns.filter(({ hidden }) => !hidden)
  const columns = await columnsWithCurrencies({ storage: table.storage, columns: shown }, rules)
  const references = await tableReferences({ ...table, columns }, rules)
  const { storage, sort, pageSize: limit } = table
  const query = throughReferences(table.query, references.all)
  const found = await andThen(session.find(storage, search({ query, sort, limit })), (all) => all)
  const rows = await shownRows(
    session,
    found,
    { table, columns, references },
    {
      ...{ timeZone, locale, now: context.now() },
      failed: ({ message }) => context.log('warn', message),
    },
  )
  return {
    kind: 'table',
    id: table.id,
    caption: table.caption,
    columns: columns.map(({ field, label, format, currency }) => ({
      ...{ field, label, format },
      ...(currency !== undefined && { currency }),
    })),
    rows: rows.map(({ document, cells }) => tableRow(table.rowLink, document, cells)),
    more: found.next() !== undefined,
    ...(table.empty !== undefined && { empty: table.empty }),
  }
}
