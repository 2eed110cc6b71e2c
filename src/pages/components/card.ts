import { type ComponentChild, h } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
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
