import { type ComponentChild, type ComponentChildren, h } from 'preact'
import type { PageButton } from '../../shared/pages/page-content.ts'
import type { TableAction } from '../../shared/pages/page-table.ts'
import { linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'
import { confirmation } from './confirmation.ts'

/** What does something is a button, what leads somewhere is a link; they look alike. */
export function button(node: PageButton, drawing: Drawing): ComponentChild {
  const look = classOf(node.tone ?? (node.action === 'submit' ? 'primary' : 'plain'))
  if (node.action === 'link') return h('a', { class: look, ...linkTo(node.href ?? '') }, node.label)
  const sends = {
    type: 'submit',
    name: node.name,
    value: node.value,
    // An action is about something else than what is typed around it.
    formNoValidate: node.action === 'action',
  }
  if (node.confirm === undefined) return h('button', { class: look, ...sends }, node.label)
  return confirmation({ question: node.confirm, label: node.label, look, sends }, drawing)
}

function classOf(tone: 'primary' | 'plain' | 'danger'): string {
  return tone === 'plain' ? 'button' : `button ${tone}`
}

/** A button that does something with rows, after a question if the builder wants one. */
export function actionButton(
  { label, tone = 'plain', confirm }: TableAction,
  sends: { readonly name: string; readonly value: string },
  look: string,
  drawing: Drawing,
): ComponentChildren {
  const looks = `${classOf(tone)} ${look}`
  if (confirm === undefined) return h('button', { type: 'submit', class: looks, ...sends }, label)
  return confirmation({ question: confirm, label, look: looks, sends: { type: 'submit', ...sends } }, drawing)
}
