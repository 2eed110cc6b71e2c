/**
 * A whole page as HTML. Preact is used as a template engine with types: it escapes every text and attribute, and nothing
 * of it reaches the browser.
 */
import { type ComponentChild, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Clock } from '../shared/clock.ts'
import { currencyOf } from '../shared/fields/currencies.ts'
import type { PageNode, PageView } from '../shared/pages/page-content.ts'
import { defaultTemplate, type TemplateSettings } from '../shared/pages/page-template.ts'
import { imageSource } from './address.ts'
import { alert } from './components/alert.ts'
import { layout } from './components/layout.ts'
import { drawNode, drawNodes } from './components/node.ts'
import type { Drawing } from './drawing.ts'
import { directionOf, messagesOf } from './messages.ts'
import { type PageAsset, type PageFiles, readPageAssets } from './page-assets.ts'

/** `now`: milliseconds since 1970, for what is written as "3 days ago". `siteName`: at the top of pages without a template. */
export function renderPage(view: PageView, files: PageFiles, now: number, siteName = ''): string {
  const settings = view.template?.settings ?? namedTemplate(siteName)
  const locale = view.language ?? settings.language ?? view.locale
  const drawing = drawingWith({ locale, timeZone: view.timeZone, say: messagesOf(settings, locale) }, now)
  const main = h(
    'main',
    { id: 'main', class: settings.width === 'normal' ? 'main' : `main ${settings.width}`, tabIndex: -1 },
    view.notice ? alert({ ...view.notice, spoken: true }) : null,
    // Signing in, an error: one thing to read and do.
    view.noIndex ? h('div', { class: 'sheet' }, content(view, drawing)) : content(view, drawing),
  )
  const page = h(
    'html',
    {
      lang: locale,
      dir: settings.direction ?? directionOf(locale),
      'data-theme': view.theme === 'auto' ? undefined : view.theme,
    },
    head(view, settings.brand.label, files),
    h(
      'body',
      { 'data-events': view.events },
      layout(view, settings, main, drawing),
      h('p', { class: 'notice', role: 'status', id: 'notice', 'data-failed': drawing.say('form.failed') }),
    ),
  )
  return `<!doctype html>${renderToString(page)}`
}

function namedTemplate(siteName: string): TemplateSettings {
  const { brand } = defaultTemplate
  return siteName === '' ? defaultTemplate : { ...defaultTemplate, brand: { ...brand, label: siteName } }
}

function head(
  { title, template, noIndex, still }: PageView,
  brand: string,
  files: PageFiles,
): ComponentChild {
  const full = title === '' || title === brand ? brand : `${title} · ${brand}`
  return h(
    'head',
    null,
    h('meta', { charset: 'utf-8' }),
    h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    h('meta', { name: 'color-scheme', content: 'light dark' }),
    noIndex ? h('meta', { name: 'robots', content: 'noindex' }) : null,
    h('title', null, full),
    h('link', { rel: 'icon', href: imageSource(template?.settings.brand.logo ?? '') ?? files.icon }),
    h('link', { rel: 'stylesheet', href: files.style }),
    template?.css === undefined ? null : h('link', { rel: 'stylesheet', href: template.css }),
    still ? null : h('script', { type: 'module', src: files.script }),
    still ? null : files.modules.map((href) => h('link', { rel: 'modulepreload', href })),
    template?.js === undefined || still ? null : h('script', { type: 'module', src: template.js }),
  )
}

/**
 * The page's one heading of the first level is the first one of its content, wherever that stands (below a breadcrumb,
 * say); without one it is the title. Others of the first level are drawn as the second.
 */
function content({ title, content: nodes }: PageView, drawing: Drawing): ComponentChild[] {
  const at = nodes.findIndex(isFirstLevel)
  const drawn = (some: readonly PageNode[]): ComponentChild[] => drawNodes(some.map(demoted), drawing)
  const first = nodes[at]
  if (first) return [...drawn(nodes.slice(0, at)), drawNode(first, drawing), ...drawn(nodes.slice(at + 1))]
  const crumbs = nodes[0]?.kind === 'breadcrumb' ? 1 : 0
  return [...drawn(nodes.slice(0, crumbs)), h('h1', null, title), ...drawn(nodes.slice(crumbs))]
}

function isFirstLevel(node: PageNode): boolean {
  return node.kind === 'heading' && node.level === 1
}

function demoted(node: PageNode): PageNode {
  return node.kind === 'heading' && node.level === 1 ? { ...node, level: 2 } : node
}

function drawingWith(
  { locale, timeZone, say }: Pick<Drawing, 'locale' | 'timeZone' | 'say'>,
  now: number,
): Drawing {
  const taken = new Map<string, number>()
  const id = (wish: string): string => {
    const safe = wish.replace(/[^\p{L}\p{N}_.-]+/gu, '-') || 'part'
    const count = (taken.get(safe) ?? 0) + 1
    taken.set(safe, count)
    return count === 1 ? safe : `${safe}-${count}`
  }
  const currency = currencyOf(locale)
  const at = (level: number, narrow: boolean): Drawing => {
    const drawing: Drawing = {
      say,
      locale,
      timeZone,
      currency,
      now,
      level,
      narrow,
      draw: (nodes) => drawNodes(nodes.map(demoted), drawing),
      deeper: () => at(Math.min(level + 1, 6), narrow),
      beside: () => at(level, true),
      id,
    }
    return drawing
  }
  return at(2, false)
}

export interface Pages {
  /** To be served below `/_pages/`, for ever: their names change with what is in them. */
  readonly assets: readonly PageAsset[]
  /** The whole document. */
  render(view: PageView): string
}

export async function openPages(clock: Clock, siteName = ''): Promise<Pages> {
  const { assets, files } = await readPageAssets()
  return { assets, render: (view) => renderPage(view, files, clock(), siteName) }
}
