import { type ComponentChild, h } from 'preact'
import { icon } from './icon.ts'

/** Says that there is nothing, and what to do about it. */
export function emptyState({
  title,
  text,
  action,
}: {
  title: string
  text?: string
  action?: ComponentChild
}): ComponentChild {
  return h(
    'div',
    { class: 'empty' },
    icon('empty'),
    h('strong', null, title),
    text === undefined ? null : h('p', null, text),
    action ?? null,
  )
}
