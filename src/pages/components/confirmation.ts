import { type ComponentChild, h } from 'preact'
import type { Drawing } from '../drawing.ts'

interface Confirmation {
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
export function confirmation(
  { question, label, look, sends }: Confirmation,
  drawing: Drawing,
): ComponentChild {
  const id = drawing.id('ask')
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
