/** The parts of a mail as HTML, with tables for layout and styles in each element. */
import { type ComponentChild, h } from 'preact'
import type { PageButton, PageLink, PageNode } from '../../shared/pages/page-content.ts'
import { figureText } from '../value-text.ts'
import { grid, mailChart, mailDetail, mailTable, mailTitle } from './mail-rows.ts'
import { type MailDrawing, styles, toneColours } from './mail-styles.ts'
import { badge, imageAddress, mailLink } from './mail-value.ts'

type Of<Kind extends PageNode['kind']> = Extract<PageNode, { kind: Kind }>

export function mailNode(node: PageNode, drawing: MailDrawing): ComponentChild {
  switch (node.kind) {
    case 'heading':
      return mailTitle(node.text, node.level)
    case 'text':
      return text(node)
    case 'image':
      return image(node, drawing)
    case 'link':
      return h('p', { style: styles.paragraph }, mailLink(node.href, node.label, drawing))
    case 'button':
      return button(node, drawing)
    case 'columns':
      return columns(node, drawing)
    case 'card':
      return card(node, drawing)
    case 'tabs':
      return node.tabs.map(({ label, content }) => [
        mailTitle(label, drawing.level),
        drawing.deeper().draw(content),
      ])
    case 'alert':
      return alert(node)
    case 'badge':
      return h('p', { style: styles.paragraph }, badge(node.text, node.tone))
    case 'list':
      return list(node, drawing)
    case 'detail':
      return mailDetail(node, drawing)
    case 'chart':
      return mailChart(node, drawing)
    case 'navigation':
    case 'breadcrumb':
      return links(node.links, drawing)
    case 'table':
      return mailTable(node, drawing)
    default:
      // `mailProblem` refuses those before.
      return null
  }
}

const looks = { normal: 'paragraph', lead: 'lead', muted: 'soft' } as const

function text({ text: written, variant = 'normal' }: Of<'text'>): ComponentChild {
  if (variant === 'code') return h('pre', { class: 'q-code', style: styles.code }, written)
  const look = { style: styles[looks[variant]] }
  return h('p', variant === 'muted' ? { ...look, class: 'q-soft' } : look, withBreaks(written))
}

/** Not every mail program knows `white-space`. */
function withBreaks(written: string): ComponentChild[] {
  return written.split('\n').flatMap((line, at) => (at === 0 ? [line] : [h('br', null), line]))
}

function image({ src, alt, caption, width, height }: Of<'image'>, drawing: MailDrawing): ComponentChild {
  const address = imageAddress(src, drawing)
  const below = caption === undefined ? null : h('p', { class: 'q-soft', style: styles.soft }, caption)
  if (address === undefined) return [h('p', { style: styles.paragraph }, alt), below]
  return [h('img', { src: address, alt, width, height, style: styles.image }), below]
}

const buttonColours = {
  primary: ['#0b6a63', '#fff'],
  plain: ['#eef2f1', '#16211f'],
  danger: ['#b0271d', '#fff'],
} as const
const buttonClasses = { primary: 'q-primary', plain: 'q-neutral', danger: 'q-delete' } as const

function button({ label, href = '', tone = 'plain' }: PageButton, { address }: MailDrawing): ComponentChild {
  const whole = address(href)
  if (whole === undefined) return h('p', { style: styles.paragraph }, label)
  const [ground, ink] = buttonColours[tone]
  const style = `display:inline-block;padding:10px 20px;border-radius:6px;font-weight:600;text-decoration:none;background:${ground};color:${ink}`
  return h(
    'p',
    { style: styles.paragraph },
    h('a', { href: whole, class: buttonClasses[tone], style }, label),
  )
}

function columns({ columns: all, widths = [] }: Of<'columns'>, drawing: MailDrawing): ComponentChild {
  const parts = all.map((_nodes, at) => Math.min(Math.max(Math.round(widths[at] ?? 1), 1), 4) || 1)
  const whole = parts.reduce((sum, part) => sum + part, 0)
  return grid(
    h(
      'tr',
      null,
      all.map((nodes, at) => {
        const width = `${Math.floor(((parts[at] ?? 1) * 100) / whole)}%`
        return h('td', { class: 'q-column', width, style: styles.column }, drawing.draw(nodes))
      }),
    ),
  )
}

function card(node: Of<'card'>, drawing: MailDrawing): ComponentChild {
  const { title, href, figure, note, content } = node
  const inner = title === undefined ? drawing : drawing.deeper()
  const head =
    title === undefined
      ? null
      : h(
          'p',
          { style: `margin:0 0 8px;font-weight:600` },
          href === undefined ? title : mailLink(href, title, drawing),
        )
  const parts = [
    head,
    figure === undefined ? null : h('p', { style: styles.figure }, figureText({ ...node, figure }, drawing)),
    note === undefined ? null : h('p', { class: 'q-soft', style: styles.soft }, note),
    inner.draw(content),
  ]
  // The space below it: a margin would be lost where a border is not collapsed.
  return [
    h(
      'table',
      { width: '100%', cellpadding: '0', cellspacing: '0', border: '0', role: 'presentation' },
      h('tr', null, h('td', { class: 'q-card', style: styles.card }, parts)),
    ),
    h('div', { style: styles.space }, '\u00a0'),
  ]
}

function alert({ tone, title, text: written }: Of<'alert'>): ComponentChild {
  const [ground, ink] = toneColours[tone]
  const style = `padding:12px 16px;border-radius:6px;background:${ground};color:${ink}`
  const bold = title === undefined ? [] : [h('strong', null, title), h('br', null)]
  return grid(h('tr', null, h('td', { class: `q-${tone}`, style }, ...bold, ...withBreaks(written))))
}

function list({ ordered = false, items, empty }: Of<'list'>, drawing: MailDrawing): ComponentChild {
  if (items.length === 0)
    return h('p', { class: 'q-soft', style: styles.soft }, empty ?? drawing.say('list.empty'))
  return h(
    ordered ? 'ol' : 'ul',
    { style: styles.list },
    items.map((nodes) => {
      const [only] = nodes
      const plain = nodes.length === 1 && only?.kind === 'text' && only.variant !== 'code'
      return h('li', { style: styles.item }, plain ? withBreaks(only.text) : drawing.draw(nodes))
    }),
  )
}

function links(all: readonly PageLink[], drawing: MailDrawing): ComponentChild {
  const parts = all.flatMap(({ href, label }, at) => [at === 0 ? '' : ' · ', mailLink(href, label, drawing)])
  return h('p', { style: styles.paragraph }, parts)
}
