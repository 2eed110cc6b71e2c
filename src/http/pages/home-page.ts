/**
 * The start page, where no blueprint has one at `/`: what waits for a visitor, and the pages that the visitor may open. A builder
 * for whom there is neither is sent to the studio.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { holds, mayEnter } from '../../access/scopes.ts'
import { myTasks, type OtherTasks, type Waits } from '../../flows/background/waits.ts'
import type { CompiledPage } from '../../flows/compile/frame.ts'
import type { LiveTable } from '../../flows/live/live-blueprints.ts'
import { formatDateTime } from '../../pages/format.ts'
import { messagesFor, type PageMessages } from '../../pages/messages.ts'
import { looksLikeAccountPath } from '../../shared/account-paths.ts'
import type { Task } from '../../shared/api/operate/waits.ts'
import type { PageLink, PageNode } from '../../shared/pages/page-content.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import type { PageServices } from './open-page-services.ts'
import { pageAddress } from './page-origin.ts'
import { localeOf, showPage, userOf, zoneOf } from './show-page.ts'
import { mayUsePage } from './usable-page.ts'

export type HomeServices = PageServices & {
  readonly waits: Pick<Waits, 'tasks'>
  readonly pushes: OtherTasks
}

/** Tasks on one page of the list. */
const TASKS = 20
const MOST_PAGES = 200
const LONGEST_TEXT = 200

interface OpenPages {
  /** By the name of their blueprint. */
  readonly groups: ReadonlyMap<string, readonly PageLink[]>
  readonly more: boolean
}

/** `signIn`: sends the browser to sign in. */
export async function visitHome(
  services: HomeServices,
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: () => FastifyReply,
): Promise<FastifyReply> {
  const { identity } = request
  const table = services.flows.live.table()
  const pages = await pagesOpenTo(services, request)
  const isEmpty = pages.groups.size === 0
  if (!identity && isEmpty) return hasPages(table) ? signIn() : toStudio(reply)
  const after = pageAddress(request.url).get('tasks')
  const requested = { limit: TASKS, ...(after !== undefined && { after }) }
  const ahead = identity ? await services.pushes.tasks(identity) : []
  const tasks = identity && (await myTasks(services.waits, table, identity, requested, ahead))
  const builds = identity !== undefined && holds(identity.scopes, 'blueprints_view')
  if (builds && isEmpty && tasks?.total === 0) return toStudio(reply)
  const say = messagesFor(localeOf(request))
  const name = userOf(identity?.user)?.name
  const title = name === undefined ? services.siteName || say('home.title') : say('home.hello', { name })
  const nothing = isEmpty && tasks?.total === 0
  const content: readonly PageNode[] = [
    { kind: 'heading', level: 1, text: title },
    ...(nothing ? [{ kind: 'text', text: say('home.nothing') } as const] : []),
    ...(tasks ? taskNodes(tasks, say, whenOf(services, request)) : []),
    ...pageNodes(pages, say),
    ...(builds ? [{ kind: 'link', label: say('home.studio'), href: '/studio' } as const] : []),
  ]
  const shown = { title: services.siteName || say('home.title'), content, template: undefined, status: 200 }
  return showPage(services, request, reply, { shown, title: '' })
}

function toStudio(reply: FastifyReply): FastifyReply {
  return reply.code(303).header('location', '/studio').header('cache-control', 'no-store').send()
}

function hasPages({ blueprints }: LiveTable): boolean {
  return [...blueprints.values()].some(({ compiled }) => compiled.pages.length > 0)
}

/** Pages without parameters in their address: others are reached from these. */
async function pagesOpenTo(services: HomeServices, request: FastifyRequest): Promise<OpenPages> {
  const { blueprints } = services.flows.live.table()
  const groups = new Map<string, readonly PageLink[]>()
  let count = 0
  const byName = [...blueprints.values()].toSorted((a, b) => a.name.localeCompare(b.name))
  for (const { compiled, name } of byName) {
    const { guid: blueprint } = compiled
    const open: CompiledPage[] = []
    for (const page of compiled.pages) {
      const { uri } = page.listening
      if (uri.includes('{') || looksLikeAccountPath(uri) || !mayEnter(page.scopes, request.identity)) continue
      if (await mayUsePage(services, request, { page, blueprint, blueprintName: name, parameters: {} }))
        open.push(page)
    }
    const links = open
      .slice(0, MOST_PAGES - count)
      .map(({ listening: { uri, title } }) => ({ label: title.trim() || `/${uri}`, href: `/${uri}` }))
    if (links.length > 0) groups.set(name, [...(groups.get(name) ?? []), ...distinct(links)])
    count += links.length
    if (links.length < open.length) return { groups, more: true }
  }
  return { groups, more: false }
}

/** Titles that are there twice have their address beside them. */
function distinct(links: readonly PageLink[]): readonly PageLink[] {
  const titles = Map.groupBy(links, ({ label }) => label)
  return links.map(({ label, href }) => ({
    label: (titles.get(label)?.length ?? 0) > 1 ? `${label} (${href})` : label,
    href,
  }))
}

/** In the language and the time zone of the visitor: tasks of one title differ by it. */
function whenOf(services: HomeServices, request: FastifyRequest): (seconds: number) => string {
  const [locale, zone] = [localeOf(request), zoneOf(request, services)]
  return (seconds) => formatDateTime(new Date(seconds * 1000), locale, zone)
}

function taskNodes(
  { records, next }: RecordPage<Task>,
  say: PageMessages,
  when: (seconds: number) => string,
): readonly PageNode[] {
  if (records.length === 0) return []
  const cards = records.map(({ title, text, blueprint, created, page }): PageNode[] => [
    {
      // Without a title: a list of landmarks has no use for twenty of the same name.
      ...{ kind: 'card', note: [blueprint, when(created)].filter((part) => part !== '').join(' · ') },
      content: [
        { kind: 'link', label: title, href: page },
        ...(text === '' ? [] : [{ kind: 'text', text: shortened(text) } as const]),
      ],
    },
  ])
  return [
    { kind: 'heading', level: 2, text: say('home.tasks') },
    ...inPairs(cards),
    ...(next === undefined
      ? []
      : [
          {
            kind: 'link',
            label: say('home.tasks.more'),
            href: `/?tasks=${encodeURIComponent(next)}`,
          } as const,
        ]),
  ]
}

function pageNodes({ groups, more }: OpenPages, say: PageMessages): readonly PageNode[] {
  if (groups.size === 0) return []
  const cards = [...groups].map(([name, links]): PageNode[] => [
    {
      ...{ kind: 'card', title: name },
      content: [{ kind: 'list', items: links.map((link): PageNode[] => [{ kind: 'link', ...link }]) }],
    },
  ])
  return [
    { kind: 'heading', level: 2, text: say('home.pages') },
    ...inPairs(cards),
    ...(more ? [{ kind: 'text', text: say('home.pages.more'), variant: 'muted' } as const] : []),
  ]
}

/** Beside each other on a wide screen, below each other on a phone. */
function inPairs(cards: readonly (readonly PageNode[])[]): readonly PageNode[] {
  return cards.flatMap((card, at): PageNode[] =>
    at % 2 === 1 ? [] : [{ kind: 'columns', columns: [card, cards[at + 1] ?? []] }],
  )
}

function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT).toWellFormed()}…`
}
