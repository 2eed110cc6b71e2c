import { type ComponentChild, h } from 'preact'
import { hasErrors, type PageNode } from '../../shared/pages/page-content.ts'
import type { ValueFormat } from '../../shared/value-format.ts'
import { linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { figureText } from '../value-text.ts'

interface Card {
  readonly title?: string
  readonly href?: string
  readonly figure?: string
  readonly format?: ValueFormat
  readonly currency?: string
  readonly note?: string
  readonly content: readonly PageNode[]
}

export function card(node: Card, drawing: Drawing): ComponentChild {
  const { title, href, figure, note, content } = node
  const id = drawing.id('card')
  const inner = title === undefined ? drawing : drawing.deeper()
  const words = title !== undefined && href !== undefined ? h('a', linkTo(href), title) : title
  const head = [
    title === undefined
      ? null
      : h(`h${drawing.level}`, { id, class: figure === undefined ? 'card-title' : 'label' }, words),
    figure === undefined ? null : h('p', { class: 'figure' }, figureText({ ...node, figure }, drawing)),
    note === undefined ? null : h('p', { class: 'note' }, note),
  ]
  return h(
    'section',
    { class: 'card', 'aria-labelledby': title === undefined ? undefined : id },
    head.some((one) => one !== null) ? h('header', null, head) : null,
    content.length === 0 ? null : h('div', { class: 'stack' }, inner.draw(content)),
  )
}

interface Columns {
  readonly columns: readonly (readonly PageNode[])[]
  readonly widths?: readonly number[]
}

/** Side by side where there is room, below each other where there is none. Widths are parts: 2 is twice 1, up to 4. */
export function columns({ columns, widths = [] }: Columns, drawing: Drawing): ComponentChild {
  const filled = columns.map((nodes, at) => ({ nodes, part: partOf(widths[at]) }))
  const many = columns.length > 2 ? 'columns many' : 'columns'
  return h(
    'div',
    { class: many },
    filled.map(({ nodes, part }) =>
      h(
        'div',
        { class: `stack part-${part}` },
        (columns.length > 1 ? drawing.beside() : drawing).draw(nodes),
      ),
    ),
  )
}

function partOf(width: number | undefined): number {
  return Math.min(Math.max(Math.round(width ?? 1), 1), 4) || 1
}

interface Tabs {
  readonly id: string
  readonly label?: string
  readonly tabs: readonly { readonly label: string; readonly content: readonly PageNode[] }[]
}

/** Sections to open, one at a time; the module makes a line of tabs of them. On paper all of them are open. */
export function tabs({ id: wish, label, tabs }: Tabs, drawing: Drawing): ComponentChild {
  const id = drawing.id(wish)
  // A form that was refused is seen.
  const open = Math.max(
    tabs.findIndex(({ content }) => hasErrors(content)),
    0,
  )
  return h(
    'div',
    { class: 'tabs', id, 'data-tabs': label ?? '' },
    tabs.map((tab, at) =>
      h(
        'details',
        { name: id, id: `${id}-${at + 1}`, open: at === open },
        h('summary', null, tab.label),
        h('div', { class: 'stack' }, drawing.draw(tab.content)),
      ),
    ),
  )
}
