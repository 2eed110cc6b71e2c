/** The content of a page with all that its visitor may see: rows of tables, rules of inputs, addresses of files. */
import type { FastifyRequest } from 'fastify'
import { nodesWithCurrencies } from '../../blocks/field-currency.ts'
import { nodesWithNames } from '../../blocks/reference-names.ts'
import { messagesFor } from '../../pages/messages.ts'
import { everyNode, type ShownPage } from '../../shared/pages/page-content.ts'
import type { DataTable, PageTable } from '../../shared/pages/page-table.ts'
import { completePage, dataTablesOf, type PageMaking } from './complete-page.ts'
import { fieldsOf } from './field-rules-of.ts'
import type { pageAddress } from './page-address.ts'
import type { PageRoom } from './page-room.ts'
import { visitorOf } from './permitted-page.ts'
import { fileAddresses } from './private-files.ts'
import { referenceChoices } from './reference-choices.ts'
import { type TableMaking, tableView } from './table-view.ts'

export interface PageFilling extends Pick<PageMaking, 'hidden' | 'ticket' | 'refused'> {
  /** Without what its visitor may not see. */
  readonly shown: ShownPage
  readonly address: ReturnType<typeof pageAddress>
  readonly locale: string
  readonly timeZone: string
  /** Each table says which block made it. */
  readonly namesBlocks: boolean
}

export async function fillPage(room: PageRoom, request: FastifyRequest, page: PageFilling) {
  const { shown, address, hidden, ticket, refused, locale, timeZone, namesBlocks } = page
  const { permissions } = room.flows
  const visitor = visitorOf(request)
  const making: TableMaking = {
    session: permissions.session(room.database.session(), visitor),
    refused: (write, guids) => permissions.refused(room.database.session(), visitor, { ...write, guids }),
    rulesOf: room.rulesOf,
    address,
    hidden,
    messages: messagesFor(locale),
    cells: { ...room.cells(), timeZone },
  }
  const nodes = await nodesWithNames(await nodesWithCurrencies(shown.content, room.rulesOf), making)
  const tables = new Map<DataTable, PageTable>()
  for (const table of dataTablesOf(nodes)) {
    const { madeBy } = table
    const view = await tableView(table, making)
    tables.set(table, namesBlocks && madeBy !== undefined ? { ...view, madeBy } : view)
  }
  const fieldOf = await fieldsOf(nodes, room.rulesOf)
  return completePage(nodes, {
    fieldOf,
    timeZone,
    withChoices: await referenceChoices(nodes, { ...making, fieldOf }),
    action: address.href,
    hidden,
    ticket,
    refused,
    tables,
    filed: await fileAddresses(making.session, [...everyNode(nodes), ...tables.values()], {
      secret: room.secret,
      now: making.cells.now,
      assets: room.assets,
    }),
  })
}
