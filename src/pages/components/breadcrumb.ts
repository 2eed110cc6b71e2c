import { type ComponentChild, h } from 'preact'
import type { PageLink } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'
import { link } from './link.ts'

/** From the start to this page. The last one is this page unless the links say otherwise. */
export function breadcrumb({ links }: { links: readonly PageLink[] }, { say }: Drawing): ComponentChild {
  const marked = links.some((one) => one.current)
  return h(
    'nav',
    { class: 'crumbs', 'aria-label': say('crumbs.label') },
    h(
      'ol',
      null,
      links.map((one, at) =>
        h('li', null, link({ ...one, current: marked ? one.current === true : at === links.length - 1 })),
      ),
    ),
  )
}
