/**
 * A mail from the parts of a page: HTML that mail programs can show, and the same as plain text. Preact escapes every text and
 * attribute. No script, no form and no style sheet from elsewhere is in it, and every address is a whole one.
 */
import { type ComponentChild, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { currencyOf } from '../../shared/fields/currencies.ts'
import { type PageLink, type PageNode, safeHref } from '../../shared/pages/page-content.ts'
import { directionOf, messagesFor } from '../messages.ts'
import { figureText, valueText, type Writing } from '../value-text.ts'
import { mailNode } from './mail-nodes.ts'
import { chartRows } from './mail-rows.ts'
import { type MailDrawing, sheet, styles } from './mail-styles.ts'

export interface MailPage {
  /** Only kinds that `mailProblem` knows; tables with their rows. */
  readonly content: readonly PageNode[]
  readonly title: string
  /** BCP 47. */
  readonly locale: string
  /** IANA name: of the times that are shown. */
  readonly timeZone: string
  /** The address at which users reach the cluster, without a slash at its end; empty for none. */
  readonly site: string
  /** Milliseconds since 1970, for what is written as "3 days ago". */
  readonly now: number
}

/** What no reader can see, and what a job would write with six characters each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g

export function renderMail(page: MailPage): { readonly html: string; readonly text: string } {
  const { content, locale, timeZone, site, now } = page
  const writing = { say: messagesFor(locale), locale, timeZone, currency: currencyOf(locale), now }
  const address = (href: string) => wholeAddress(href, site)
  const at = (level: number): MailDrawing => {
    const drawing: MailDrawing = {
      ...writing,
      level,
      address,
      draw: (nodes) => nodes.map((node) => mailNode(node, drawing)),
      deeper: () => at(Math.min(level + 1, 4)),
    }
    return drawing
  }
  const html = `<!doctype html>${renderToString(whole(page, at(2).draw(content)))}`
  const text = mailText(content, { ...writing, address })
  return { html: clean(html), text: clean(text) }
}

function clean(text: string): string {
  return text.replace(controls, '').toWellFormed()
}

function whole({ title, locale }: MailPage, content: ComponentChild) {
  const table = { role: 'presentation', cellpadding: '0', cellspacing: '0', border: '0' }
  const inner = h(
    'table',
    { ...table, width: '640', class: 'q-sheet', style: styles.sheet },
    h('tr', null, h('td', { class: 'q-content', style: styles.content }, content)),
  )
  return h(
    'html',
    { lang: locale, dir: directionOf(locale) },
    h(
      'head',
      null,
      h('meta', { charset: 'utf-8' }),
      h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      h('meta', { name: 'color-scheme', content: 'light dark' }),
      h('meta', { name: 'supported-color-schemes', content: 'light dark' }),
      h('title', null, title),
      h('style', null, sheet),
    ),
    h(
      'body',
      { style: styles.body },
      h(
        'table',
        { ...table, width: '100%', class: 'q-back', style: styles.back },
        h('tr', null, h('td', { align: 'center', class: 'q-margin', style: styles.margin }, inner)),
      ),
    ),
  )
}

/** The parts of a mail as plain text, for programs that show no HTML. */
type TextWriting = Writing & Pick<MailDrawing, 'address'>

/** Parts stand below each other with an empty line between them. */
function mailText(nodes: readonly PageNode[], writing: TextWriting): string {
  return nodes
    .map((node) => nodeText(node, writing))
    .filter((text) => text !== '')
    .join('\n\n')
}

function nodeText(node: PageNode, writing: TextWriting): string {
  switch (node.kind) {
    case 'heading':
      return underlined(node.text, node.level === 1 ? '=' : '-')
    case 'text':
      return node.text
    case 'image':
      return lines(node.alt, node.caption)
    case 'link':
      return linkText(node, writing)
    case 'button':
      return linkText({ label: node.label, href: node.href ?? '' }, writing)
    case 'columns':
      return node.columns.map((column) => mailText(column, writing)).join('\n\n')
    case 'card':
      return lines(
        cardTitle(node, writing),
        figureOf(node, writing),
        node.note,
        mailText(node.content, writing),
      )
    case 'tabs':
      return node.tabs
        .map(({ label, content }) => lines(underlined(label, '-'), mailText(content, writing)))
        .join('\n\n')
    case 'alert':
      return lines(node.title, node.text)
    case 'badge':
      return node.text
    case 'list':
      return listText(node, writing)
    case 'detail':
      return node.items.map((item) => `${item.label}: ${valueText(item.value, item, writing)}`).join('\n')
    case 'chart':
      return tableText(chartRows(node, writing), writing)
    case 'navigation':
    case 'breadcrumb':
      return node.links.map((link) => linkText(link, writing)).join('\n')
    case 'table':
      return tableText(node, writing)
    default:
      return ''
  }
}

function figureOf({ figure, ...look }: Extract<PageNode, { kind: 'card' }>, writing: Writing) {
  return figure === undefined ? undefined : figureText({ ...look, figure }, writing)
}

function lines(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n')
}

function underlined(text: string, line: string): string {
  return `${text}\n${line.repeat(Math.min(text.length, 60))}`
}

function linkText({ label, href }: PageLink, { address }: TextWriting): string {
  const whole = address(href)
  return whole === undefined || whole === label ? label : `${label}: ${whole}`
}

function cardTitle(
  { title, href }: Extract<PageNode, { kind: 'card' }>,
  writing: TextWriting,
): string | undefined {
  return title === undefined || href === undefined ? title : linkText({ label: title, href }, writing)
}

function listText(
  { items, ordered, empty }: Extract<PageNode, { kind: 'list' }>,
  writing: TextWriting,
): string {
  if (items.length === 0) return empty ?? writing.say('list.empty')
  return items
    .map((nodes, at) => {
      const mark = ordered ? `${at + 1}. ` : '- '
      return `${mark}${mailText(nodes, writing).replaceAll('\n', `\n${' '.repeat(mark.length)}`)}`
    })
    .join('\n')
}

function tableText(table: ReturnType<typeof chartRows>, writing: TextWriting): string {
  const { caption, columns, rows, empty, more } = table
  const title = caption === '' ? undefined : underlined(caption, '-')
  if (rows.length === 0) return lines(title, empty ?? writing.say('table.empty'))
  const written = rows.map((row) => columns.map((column, at) => valueText(row.cells[at], column, writing)))
  const all = [columns.map(({ label }) => label), ...written].map((cells) => cells.join(' | '))
  return lines(title, ...all, more ? writing.say('mail.more') : undefined)
}

/** Whether an address only means something beside the address of the cluster. */
export function isRelative(href: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:/i.test(href.trim())
}

/**
 * The whole address of a link in a mail. `site`: the address at which users reach the cluster, without a slash at its end; empty
 * for none. undefined for an address that must not be followed, or that is relative while there is no site.
 */
function wholeAddress(href: string, site: string): string | undefined {
  const safe = safeHref(href)
  if (safe === undefined || !isRelative(safe)) return safe
  // A mail has no places to jump to.
  if (site === '' || safe.startsWith('#')) return undefined
  return safe.startsWith('/') ? `${site}${safe}` : `${site}/${safe}`
}
