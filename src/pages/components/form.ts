import { type ComponentChild, h } from 'preact'
import type { PageForm, PageNode } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'

type Hidden = readonly { readonly name: string; readonly value: string }[]

export function hiddenInputs(hidden: Hidden): ComponentChild[] {
  return hidden.map(({ name, value }) => h('input', { type: 'hidden', name, value }))
}

/** A form that is sent by post. Buttons that follow each other stand in one row. */
export function form(node: PageForm, drawing: Drawing): ComponentChild {
  const { label, action, multipart, hidden = [], errors = [], plain, needsScript, leaves, proof } = node
  const attributes = {
    method: 'post',
    action,
    enctype: multipart ? 'multipart/form-data' : undefined,
    // The server's messages are better than the browser's, and the same in all browsers.
    noValidate: true,
    'data-send': leaves ? undefined : '',
  }
  if (plain)
    return h('form', { ...attributes, class: 'plain-form' }, hiddenInputs(hidden), drawing.draw(node.content))
  return h(
    'form',
    {
      ...attributes,
      class: `form${isWide(node.content) ? ' wide' : ''}${needsScript ? ' needs-script' : ''}`,
      id: drawing.id(`form-${node.id}`),
      'aria-label': label,
      'data-unsaved': leaves ? undefined : drawing.say('form.unsaved'),
      'data-proof': proof,
      'data-refused': needsScript ? drawing.say('passkey.failed') : undefined,
    },
    hiddenInputs(hidden),
    errors.length === 0 ? null : errorSummary(errors, drawing),
    proof === undefined ? null : h('p', { class: 'without-script' }, drawing.say('proof.script')),
    drawing.draw(node.content),
  )
}

/** Inputs are easier to fill in a narrow form; columns, tables and tabs need the room. */
function isWide(content: readonly PageNode[]): boolean {
  return content.some(({ kind }) => kind === 'columns' || kind === 'table' || kind === 'tabs')
}

type Errors = readonly { readonly input?: string; readonly message: string }[]

/** All that is wrong with a form, in front of it. It takes the focus, so that it is the first thing to be read. */
function errorSummary(errors: Errors, { say, level }: Drawing): ComponentChild {
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
