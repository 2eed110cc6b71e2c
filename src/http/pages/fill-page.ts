/** The content of a page with all that its visitor may see: rows of tables, rules of inputs, addresses of files. */
import type { FastifyRequest } from 'fastify'
import { nodesWithCurrencies } from '../../blocks/field-currency.ts'
import { nodesWithNames } from '../../blocks/reference-names.ts'
import { messagesFor } from '../../pages/messages.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { shownName } from '../../shared/fields/field-names.ts'
import type { JsonObject } from '../../shared/json.ts'
import { everyNode, type PageNode, type ShownPage } from '../../shared/pages/page-content.ts'
import type { InputOption, PageInput } from '../../shared/pages/page-input.ts'
import type { DataTable, PageTable } from '../../shared/pages/page-table.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { completePage, dataTablesOf, type PageMaking } from './complete-page.ts'
import { type FieldOf, fieldsOf, inputsOf, type RulesOf } from './field-rules-of.ts'
import type { PageServices } from './open-page-services.ts'
import type { pageAddress } from './page-origin.ts'
import { visitorOf } from './permitted-page.ts'
import { fileAddresses } from './private-files.ts'
import { type TableMaking, tableView } from './table-view.ts'

// The documents that an input of the type `choice` offers where its field refers to documents of another storage: by their names,
// as far as the visitor may see them. One search for each storage.

/** A list of more is nothing that people choose from: the guid is typed. */
const MOST_CHOICES = 200
/** Of all documents of a list, which are read whole: to parse more would hold the event loop for over 10 ms. */
const MOST_CHARACTERS = 1024 * 1024
/** Documents of the first look, which shows how large they are. */
const FIRST = 20
/** Storages that one page asks. */
const MOST_STORAGES = 16

export interface ChoiceMaking {
  /** The visitor's. */
  readonly session: Session
  readonly rulesOf: RulesOf
  readonly fieldOf: FieldOf
}

/** Gives each such input as it is drawn, and all others as they are. */
async function referenceChoices(
  nodes: readonly PageNode[],
  { session, rulesOf, fieldOf }: ChoiceMaking,
): Promise<(input: PageInput) => PageInput> {
  const storages = new Map<PageInput, string>()
  for (const node of everyNode(nodes)) {
    if (node.kind !== 'form') continue
    for (const input of inputsOf(node)) {
      if (input.type !== 'choice' || input.options !== undefined) continue
      const storage = fieldOf(node, input)?.reference?.storage
      if (storage !== undefined) storages.set(input, storage)
    }
  }
  const choices = new Map<string, readonly InputOption[]>()
  for (const storage of [...new Set(storages.values())].slice(0, MOST_STORAGES)) {
    const options = await documentsAsOptions(session, storage, rulesOf)
    if (options) choices.set(storage, options)
  }
  return (input) => {
    const storage = storages.get(input)
    if (storage === undefined) return input
    const options = choices.get(storage)
    return options ? { ...input, options } : { ...input, type: 'text' }
  }
}

/** undefined where there are too many, or they are too large. */
async function documentsAsOptions(
  session: Session,
  storage: string,
  rulesOf: RulesOf,
): Promise<readonly InputOption[] | undefined> {
  const documents = await smallDocuments(session, storage)
  if (documents === undefined) return undefined
  const name = shownName(await rulesOf(storage), storage)
  const path = name === undefined ? undefined : parseFieldPath(name)
  const options = documents.map((document) => {
    const guid = guidOf(document)
    const label = path && valueAt(document, path)
    return { value: guid, label: typeof label === 'string' && label.trim() !== '' ? label : guid }
  })
  return options.toSorted((a, b) => a.label.localeCompare(b.label))
}

/** By no order: what has no index would be sorted whole, however many there are. */
async function smallDocuments(session: Session, storage: string): Promise<JsonObject[] | undefined> {
  const first = await session.find(storage, search({ limit: FIRST }))
  if (first.documents.text.length > MOST_CHARACTERS) return undefined
  const after = first.next()
  if (after === undefined) return documentsOf(first)
  const rest = await session.find(storage, search({ limit: MOST_CHOICES - FIRST + 1, after }))
  const characters = first.documents.text.length + rest.documents.text.length
  if (rest.length > MOST_CHOICES - FIRST || characters > MOST_CHARACTERS) return undefined
  return [...documentsOf(first), ...documentsOf(rest)]
}

export interface PageFilling extends Pick<PageMaking, 'hidden' | 'ticket' | 'proof' | 'refused'> {
  /** Without what its visitor may not see. */
  readonly shown: ShownPage
  readonly address: ReturnType<typeof pageAddress>
  readonly locale: string
  readonly timeZone: string
  /** Each table says which block made it. */
  readonly namesBlocks: boolean
}

export async function fillPage(services: PageServices, request: FastifyRequest, page: PageFilling) {
  const { shown, address, hidden, ticket, proof, refused, locale, timeZone, namesBlocks } = page
  const { permissions } = services.flows
  const visitor = visitorOf(request)
  const making: TableMaking = {
    session: permissions.session(services.database.session(), visitor),
    refused: (write, guids) => permissions.refused(services.database.session(), visitor, { ...write, guids }),
    rulesOf: services.rulesOf,
    address,
    hidden,
    messages: messagesFor(locale),
    cells: { ...services.cells(), timeZone },
  }
  const nodes = await nodesWithNames(await nodesWithCurrencies(shown.content, services.rulesOf), making)
  const tables = new Map<DataTable, PageTable>()
  for (const table of dataTablesOf(nodes)) {
    const { madeBy } = table
    const view = await tableView(table, making)
    tables.set(table, namesBlocks && madeBy !== undefined ? { ...view, madeBy } : view)
  }
  const fieldOf = await fieldsOf(nodes, services.rulesOf)
  return completePage(nodes, {
    fieldOf,
    timeZone,
    withChoices: await referenceChoices(nodes, { ...making, fieldOf }),
    action: address.href,
    hidden,
    ticket,
    proof,
    refused,
    tables,
    filed: await fileAddresses(making.session, [...everyNode(nodes), ...tables.values()], {
      secret: services.secret,
      now: making.cells.now,
      assets: services.assets,
    }),
  })
}
