import { type ComponentChild, h } from 'preact'
import type { PageNode } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'
import { icon } from './icon.ts'

interface Modal {
  readonly id: string
  readonly label: string
  readonly title: string
  readonly content: readonly PageNode[]
}

/**
 * A button and what it opens. Without the module the browser opens it as a popover, above the page; the module makes it
 * modal, so that the page behind it cannot be reached meanwhile.
 */
export function modal({ id: wish, label, title, content }: Modal, drawing: Drawing): ComponentChild {
  const id = drawing.id(wish)
  return h(
    'div',
    null,
    h('button', { type: 'button', class: 'button', popovertarget: id, 'data-modal': id }, label),
    h(
      'dialog',
      { class: 'dialog', id, popover: 'auto', 'aria-labelledby': `${id}-title` },
      h(
        'header',
        null,
        h(`h${drawing.level}`, { id: `${id}-title` }, title),
        h(
          'button',
          {
            type: 'button',
            class: 'button quiet square',
            popovertarget: id,
            popovertargetaction: 'hide',
            'aria-label': drawing.say('close'),
          },
          icon('close'),
        ),
      ),
      h('div', { class: 'stack' }, drawing.deeper().draw(content)),
    ),
  )
}
