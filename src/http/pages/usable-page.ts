/**
 * A page without what its visitor could only be refused: links to pages that other scopes open, and forms, buttons and row actions
 * whose write the permissions of a storage refuse. What refuses decides: `mayEnter`, and the rules of the storage over the stored document.
 *
 * Only what is certain is left out: where a flow branches before it writes, or writes as the application, all of it stays. What was
 * left out and is sent anyway is refused by the write.
 */
import type { FastifyRequest } from 'fastify'
import { mayEnter } from '../../access/scopes.ts'
import type { PageWrite } from '../../flows/compile/frame.ts'
import { looksLikeAccountPath } from '../../shared/account-paths.ts'
import {
  everyNode,
  type PageForm,
  type PageNode,
  type ShownPage,
  withChildren,
} from '../../shared/pages/page-content.ts'
import type { DataTable } from '../../shared/pages/page-table.ts'
import { buttonValue } from './complete-page.ts'
import type { PageServices } from './open-page-services.ts'
import { type FoundPage, pagesOf } from './page-routes.ts'
import { visitorOf } from './permitted-page.ts'

/** Documents that are read for one page to see what its visitor may do with them. Links and buttons of others stay. */
const MOST_JUDGED = 20

type Room = Pick<PageServices, 'database'> & {
  readonly flows: Pick<PageServices['flows'], 'live' | 'permissions'>
}

export async function usablePage<P extends Pick<ShownPage, 'content'>>(
  services: Room,
  request: FastifyRequest,
  page: P,
): Promise<P> {
  const here = request.foundPage
  return here ? { ...page, content: await new Usable(services, request).content(page.content, here) } : page
}

/** Whether a link to the page leads its visitor to something that is not refused. */
export function mayUsePage(services: Room, request: FastifyRequest, page: FoundPage): Promise<boolean> {
  return new Usable(services, request).leads(page)
}

class Usable {
  readonly #services: Room
  readonly #request: FastifyRequest
  /** By storage, rule and guid. */
  readonly #verdicts = new Map<string, Promise<boolean>>()
  #judged = 0

  constructor(services: Room, request: FastifyRequest) {
    this.#services = services
    this.#request = request
  }

  async content(nodes: readonly PageNode[], here: FoundPage): Promise<readonly PageNode[]> {
    const links = new Set<string>()
    const parts = new Map<PageNode, PageNode | undefined>()
    const know = async (href: string | undefined) => {
      if (href !== undefined && !links.has(href) && !(await this.#follows(href))) links.add(href)
    }
    for (const node of everyNode(nodes)) {
      for (const href of hrefsOf(node)) await know(href)
      if (node.kind === 'datatable') parts.set(node, await this.#table(node, here))
      else if (await this.#isRefused(node, here)) parts.set(node, undefined)
    }
    return usableNodes(nodes, links, parts)
  }

  /** A page that is a form is left out where what the form does is refused. Others are there to be read too. */
  async leads({ page: { scopes, writes }, parameters }: FoundPage, query = new URLSearchParams()) {
    const { identity } = this.#request
    // Who signs in gets there.
    if (!identity && scopes.includes('*loggedin')) return true
    if (!mayEnter(scopes, identity)) return false
    if (!writes.isForm) return true
    for (const write of writes.of.values()) {
      const guid = guidIn(write, { ...Object.fromEntries(query), ...parameters })
      if (!write || !(await this.#refuses(write, guid))) return true
    }
    return false
  }

  async #follows(href: string): Promise<boolean> {
    const here = new URL(this.#request.url, 'http://page.invalid')
    const to = URL.canParse(href, here.href) ? new URL(href, here) : undefined
    if (to?.origin !== here.origin || looksLikeAccountPath(to.pathname.slice(1))) return true
    const found = pagesOf(this.#services.flows.live.table())(to.pathname)
    return !found || this.leads(found, to.searchParams)
  }

  async #isRefused(node: PageNode, { page, parameters }: FoundPage): Promise<boolean> {
    if (node.kind !== 'form' && node.kind !== 'button') return false
    if (node.kind === 'button' && node.action === 'link') return false
    const write = page.writes.of.get(node.block ?? '')
    if (!write) return false
    const chosen = node.kind === 'button' ? node.value : undefined
    const sent = Object.fromEntries(new URL(this.#request.url, 'http://page.invalid').searchParams)
    return this.#refuses(write, guidIn(write, { ...sent, ...parameters }, chosen))
  }

  async #table(table: DataTable, { page }: FoundPage): Promise<DataTable> {
    const write = page.writes.of.get(table.block)
    if (!write || table.actions.length === 0) return table
    if (await this.#refuses(write, undefined)) return { ...table, actions: [] }
    const { storage, rule, guid } = write
    return guid === 'chosen' && rule !== 'create' ? { ...table, rowWrite: { storage, rule } } : table
  }

  /** `guid` undefined: whatever document it is. */
  #refuses(write: PageWrite, guid: string | undefined): Promise<boolean> {
    const key = JSON.stringify([write.storage, write.rule, guid])
    const known = this.#verdicts.get(key) ?? this.#judge(write, guid)
    this.#verdicts.set(key, known)
    return known
  }

  async #judge({ storage, rule }: PageWrite, guid: string | undefined): Promise<boolean> {
    const { permissions } = this.#services.flows
    const visitor = visitorOf(this.#request)
    if (!visitor.bound || permissions.none()) return false
    if (await permissions.refusesAll(storage, rule, visitor)) return true
    if (guid === undefined || this.#judged >= MOST_JUDGED) return false
    this.#judged += 1
    const requested = { storage, rule, guids: [guid] }
    return (await permissions.refused(this.#services.database.session(), visitor, requested)).has(guid)
  }
}

function guidIn(
  write: PageWrite | undefined,
  parameters: Readonly<Record<string, string>>,
  chosen?: string,
): string | undefined {
  return write?.guid === 'chosen' ? chosen : write?.guid && parameters[write.guid.parameter]
}

/** `{name}` of a row's link stands for any value. */
function hrefsOf(node: PageNode): readonly (string | undefined)[] {
  switch (node.kind) {
    case 'link':
    case 'button':
    case 'card':
      return [node.href]
    case 'navigation':
      return node.links.map(({ href }) => href)
    case 'detail':
      return node.items.map(({ href }) => href)
    case 'table':
      return node.rows.map(({ href }) => href)
    case 'datatable':
      return [node.rowLink]
    default:
      return []
  }
}

function usableNodes(
  nodes: readonly PageNode[],
  links: ReadonlySet<string>,
  parts: ReadonlyMap<PageNode, PageNode | undefined>,
): readonly PageNode[] {
  if (links.size === 0 && parts.size === 0) return nodes
  const isOpen = (href: string | undefined) => href === undefined || !links.has(href)
  return nodes.flatMap((made): PageNode | readonly PageNode[] => {
    if ((made.kind === 'link' || made.kind === 'button') && !isOpen(made.href)) return []
    const node = parts.has(made) ? parts.get(made) : made
    if (!node) return made.kind === 'form' && hasOtherButton(made, parts) ? made : []
    switch (node.kind) {
      case 'navigation':
        return { ...node, links: node.links.filter(({ href }) => isOpen(href)) }
      case 'datatable':
        return isOpen(node.rowLink) ? node : withoutRowLink(node)
      case 'card':
        return withChildren(isOpen(node.href) ? node : unlinked(node), inner)
      case 'detail':
        return { ...node, items: node.items.map((item) => (isOpen(item.href) ? item : unlinked(item))) }
      case 'table':
        return { ...node, rows: node.rows.map((row) => (isOpen(row.href) ? row : unlinked(row))) }
      default:
        return withChildren(node, inner)
    }
  })
  function inner(list: readonly PageNode[]): readonly PageNode[] {
    return usableNodes(list, links, parts)
  }
}

function unlinked<T extends { readonly href?: string }>({ href: _, ...rest }: T): Omit<T, 'href'> {
  return rest
}

function withoutRowLink({ rowLink: _, ...table }: DataTable): DataTable {
  return table
}

/** Of a form whose own write is refused: whether another button of it still does something. */
function hasOtherButton(form: PageForm, parts: ReadonlyMap<PageNode, PageNode | undefined>): boolean {
  return [...everyNode(form.content)].some(
    (node) => node.kind === 'button' && buttonValue(node) !== undefined && !parts.has(node),
  )
}
