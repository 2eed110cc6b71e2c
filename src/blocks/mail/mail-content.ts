import { isRelative, renderMail } from '../../pages/mail/render-mail.ts'
import { isLargerThan } from '../../shared/json.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import {
  everyNode,
  nodesOf,
  type PageContent,
  type PageNode,
  withChildren,
} from '../../shared/pages/page-content.ts'
import type { DataTable, PageTable } from '../../shared/pages/page-table.ts'
import { search } from '../../shared/query.ts'
import { tableReferences, tableRow } from '../../storage/reference/table-references.ts'
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

/** Bytes of HTML and text together. JSON writes two characters for one at most, and a job holds 1 MiB. */
const MOST_BYTES = 256 * 1024
/** Nodes, cells, fields, figures and lines, drawn in one turn of the event loop: up to 8 µs each, 24 ms together. */
const MOST_PARTS = 3_000
/** Characters before they are drawn: an escaped one is up to six. */
const MOST_CHARACTERS = 200_000

type ContentContext = Pick<
  FlowContext,
  'session' | 'rules' | 'timeZone' | 'locale' | 'publicUrl' | 'now' | 'log'
>

/** The blocks of a page as both bodies of a mail, but for a given text. Throws PinError for what mail cannot show. */
export async function mailBodies(
  state: PageContent,
  { subject, text: input }: { readonly subject: string; readonly text: string | undefined },
  context: ContentContext,
): Promise<{ readonly html: string; readonly text: string }> {
  const { locale, timeZone, publicUrl: site } = context
  const written = nodesOf(state)
  checkKinds(written)
  const content = await withRows(written, context)
  checkSize(content)
  if (site === '') checkAddresses(content)
  const made = renderMail({ content, title: subject, locale, timeZone, site, now: context.now() })
  const bodies = { html: made.html, text: input ?? made.text }
  // A given text may have characters that JSON writes with six.
  const bytes = Buffer.byteLength(bodies.html) + Buffer.byteLength(JSON.stringify(bodies.text))
  if (bytes > MOST_BYTES)
    throw new PinError('state', `makes a mail of ${bytes} bytes; at most ${MOST_BYTES} are sent: show less`)
  return bodies
}

function checkKinds(nodes: readonly PageNode[]): void {
  let left = MOST_PARTS
  for (const node of everyNode(nodes)) {
    const name = unknownTo(node)
    if (name !== undefined)
      throw new PinError('state', `holds ${name}, which mail cannot show: link to a page that has it`)
    left -= 1
    if (left < 0) throw tooMany()
  }
}

/** Of parts that need a browser: what their block is called. */
function unknownTo(node: PageNode): string | undefined {
  switch (node.kind) {
    case 'form':
      return 'a form (state_form)'
    case 'input':
      return `the input ${node.name} (state_input_dynamic)`
    case 'modal':
      return 'a dialog (state_modal)'
    case 'button':
      return node.action === 'link'
        ? undefined
        : `the button ${JSON.stringify(node.label)} of the kind ${node.action} (state_button)`
    default:
      return undefined
  }
}

function checkSize(content: readonly PageNode[]): void {
  let parts = 0
  for (const node of everyNode(content)) {
    parts += 1 + partsOf(node)
    if (parts > MOST_PARTS) throw tooMany()
  }
  // Twelve values are those of one part with all that it may say.
  if (isLargerThan(content, MOST_PARTS * 12, MOST_CHARACTERS))
    throw new PinError(
      'state',
      `has more than ${MOST_CHARACTERS} characters, or values with too many parts: show less`,
    )
}

function partsOf(node: PageNode): number {
  switch (node.kind) {
    case 'text':
    case 'alert':
      return node.text.split('\n', MOST_PARTS + 2).length - 1
    case 'table':
      return (node.rows.length + 1) * node.columns.length
    case 'detail':
      return node.items.length
    case 'chart':
      return (node.labels.length + 1) * (node.series.length + 1)
    case 'navigation':
    case 'breadcrumb':
      return node.links.length
    default:
      return 0
  }
}

function tooMany(): PinError {
  return new PinError(
    'state',
    `shows more than ${MOST_PARTS} parts (blocks, cells and lines): show fewer, or link to a page`,
  )
}

/** Those that the builder has written. Of documents, one that is relative is left as text. */
function checkAddresses(content: readonly PageNode[]): void {
  for (const node of everyNode(content))
    for (const href of addressesOf(node))
      if (isRelative(href))
        throw new PinError(
          'state',
          `has the address ${JSON.stringify(href.slice(0, 200))}, which leads nowhere from a mail: set QUOIN_PUBLIC_URL, or write the whole address`,
        )
}

function addressesOf(node: PageNode): readonly string[] {
  switch (node.kind) {
    case 'link':
    case 'button':
    case 'card':
      return node.href === undefined ? [] : [node.href]
    case 'image':
      return [node.src]
    case 'navigation':
    case 'breadcrumb':
      return node.links.map(({ href }) => href)
    case 'table':
      return node.rows.flatMap(({ href }) => href ?? [])
    case 'detail':
      return node.items.flatMap(({ href }) => href ?? [])
    default:
      return []
  }
}
