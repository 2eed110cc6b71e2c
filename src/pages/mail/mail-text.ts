/** The parts of a mail as plain text, for programs that show no HTML. */
import type { PageLink, PageNode } from '../../shared/pages/page-content.ts'
import { figureText, valueText, type Writing } from '../value-text.ts'
import type { MailDrawing } from './mail-drawing.ts'
import { chartRows } from './mail-rows.ts'

type TextWriting = Writing & Pick<MailDrawing, 'address'>

/** Parts stand below each other with an empty line between them. */
export function mailText(nodes: readonly PageNode[], writing: TextWriting): string {
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
