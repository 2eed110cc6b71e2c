import { type ComponentChild, type ComponentChildren, h } from 'preact'
import type { PageButton } from '../../shared/pages/page-content.ts'
import type { TableAction } from '../../shared/pages/page-table.ts'
import { linkTo } from '../address.ts'
import type { Drawing } from '../drawing.ts'

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
  const id = drawing.id('ask')
  return confirmation({ id, question: node.confirm, label: node.label, look, sends }, drawing)
}

function classOf(tone: 'primary' | 'plain' | 'danger'): string {
  return tone === 'plain' ? 'button' : `button ${tone}`
}

/**
 * A button that does something with rows, after a question if the builder wants one. `of`: id of the table, and the row's key
 * where it is about one row. The question's id is made of them, and of the action: a table is replaced alone, so an id
 * that counted what stands on the page would be there twice afterwards, and open the question of another row.
 */
export function actionButton(
  { name, label, tone = 'plain', confirm }: TableAction,
  sends: { readonly name: string; readonly value: string },
  of: readonly [table: string, key?: string],
  drawing: Drawing,
): ComponentChildren {
  const look = `${classOf(tone)} small${of[1] === undefined ? '' : ' quiet'}`
  if (confirm === undefined) return h('button', { type: 'submit', class: look, ...sends }, label)
  // No id of anything else in a table has a full stop behind the table's own.
  const id = drawing.id([of[0], of[1] ?? '', name].join('.'))
  return confirmation({ id, question: confirm, label, look, sends: { type: 'submit', ...sends } }, drawing)
}

interface Confirmation {
  readonly id: string
  readonly question: string
  readonly label: string
  /** Classes of the button that opens the question. */
  readonly look: string
  /** Attributes of the button that goes on. */
  readonly sends: Readonly<Record<string, unknown>>
}

/**
 * A button that first asks. The question is a popover inside the same form, and the real button is in it: no script is
 * needed, and a form has nothing to remember. A browser without popovers shows both.
 */
function confirmation({ id, question, label, look, sends }: Confirmation, drawing: Drawing): ComponentChild {
  const danger = look.includes('danger') ? 'button danger' : 'button primary'
  return h(
    'span',
    { class: 'asks' },
    h('button', { type: 'button', class: look, popovertarget: id }, label),
    h(
      'div',
      { id, popover: 'auto', class: 'dialog ask', role: 'dialog', 'aria-labelledby': `${id}-text` },
      h('p', { id: `${id}-text` }, question),
      h(
        'footer',
        null,
        h(
          'button',
          {
            type: 'button',
            class: 'button',
            popovertarget: id,
            popovertargetaction: 'hide',
            autofocus: true,
          },
          drawing.say('confirm.stop'),
        ),
        h('button', { class: danger, ...sends }, label),
      ),
    ),
  )
}
