import { type ComponentChildren, h } from 'preact'
import type { TableAction } from '../../shared/pages/page-table.ts'
import type { Drawing } from '../drawing.ts'
import { classOf } from './button.ts'
import { confirmation } from './confirmation.ts'

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
