import { type ComponentChild, h } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'

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
