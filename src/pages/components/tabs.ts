import { type ComponentChild, h } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'

interface Tabs {
  readonly id: string
  readonly label?: string
  readonly tabs: readonly { readonly label: string; readonly content: readonly PageNode[] }[]
}

/** Sections to open, one at a time; the module makes a line of tabs of them. On paper all of them are open. */
export function tabs({ id: wish, label, tabs }: Tabs, drawing: Drawing): ComponentChild {
  const id = drawing.id(wish)
  return h(
    'div',
    { class: 'tabs', id, 'data-tabs': label ?? '' },
    tabs.map((tab, at) =>
      h(
        'details',
        { name: id, id: `${id}-${at + 1}`, open: at === 0 },
        h('summary', null, tab.label),
        h('div', { class: 'stack' }, drawing.draw(tab.content)),
      ),
    ),
  )
}
