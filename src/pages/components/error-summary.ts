import { type ComponentChild, h } from 'preact'
import type { Drawing } from '../drawing.ts'

type Errors = readonly { readonly input?: string; readonly message: string }[]

/** All that is wrong with a form, in front of it. It takes the focus, so that it is the first thing to be read. */
export function errorSummary(errors: Errors, { say, level }: Drawing): ComponentChild {
  const title = errors.some(({ input }) => input === undefined)
    ? say('form.errors')
    : say.counted('form.errors', errors.length)
  return h(
    'div',
    { class: 'summary', role: 'alert', tabIndex: -1, autofocus: true, 'data-summary': '' },
    h(`h${level}`, null, title),
    h(
      'ul',
      null,
      errors.map(({ input, message }) =>
        h('li', null, input === undefined ? message : h('a', { href: `#${input}` }, message)),
      ),
    ),
  )
}
