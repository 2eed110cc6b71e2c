import { type ComponentChild, h } from 'preact'
import type { PageLink } from '../../shared/pages/page-content.ts'
import { link } from './link.ts'

/** Links between parts of an application, in a line. */
export function navigation({ label, links }: { label?: string; links: readonly PageLink[] }): ComponentChild {
  return h(
    'nav',
    {
      class: 'side-nav',
      'aria-label':
        label ??
        links
          .map((one) => one.label)
          .slice(0, 3)
          .join(', '),
    },
    h(
      'ul',
      null,
      links.map((one) => h('li', null, link(one))),
    ),
  )
}
