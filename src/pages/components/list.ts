import { type ComponentChild, h } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'
import { emptyState } from './empty-state.ts'

interface List {
  readonly ordered?: boolean
  readonly items: readonly (readonly PageNode[])[]
  readonly empty?: string
}

/** Items of one line of text are a plain list; others are rows with a line between them. */
export function list({ ordered = false, items, empty }: List, drawing: Drawing): ComponentChild {
  if (items.length === 0) return emptyState({ title: empty ?? drawing.say('list.empty') })
  const plain = ordered || items.every(([first, ...more]) => more.length === 0 && first?.kind === 'text')
  return h(
    ordered ? 'ol' : 'ul',
    { class: plain ? 'plain' : 'items' },
    items.map((nodes) => h('li', null, h('div', { class: 'item' }, drawing.draw(nodes)))),
  )
}
