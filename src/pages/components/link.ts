import { type ComponentChild, h } from 'preact'
import type { PageLink } from '../../shared/pages/page-content.ts'
import { linkTo } from '../address.ts'

export function link({ label, href, current }: PageLink): ComponentChild {
  return h('a', { ...linkTo(href), 'aria-current': current ? 'page' : undefined }, label)
}
