import { type ComponentChild, h } from 'preact'
import type { PageView } from '../../shared/pages/page-content.ts'
import type { Drawing } from '../drawing.ts'
import { hiddenInputs } from './form.ts'
import { icon } from './icon.ts'

/** Who is signed in and the way out, or the way in; and the switch between light and dark, which needs the module. */
export function person({ user, hidden, url }: PageView, { say }: Drawing): ComponentChild {
  // The form of the page at this address, sent from here without its question.
  const pairs = Object.entries({ _form: 'signout', ...hidden }).map(([name, value]) => ({ name, value }))
  return h(
    'div',
    { class: 'person' },
    h(
      'button',
      {
        type: 'button',
        class: 'button quiet small square needs-script',
        'data-theme-switch': '',
        'data-dark': say('theme.dark'),
        'data-light': say('theme.light'),
        'aria-label': say('theme.dark'),
      },
      icon('moon'),
    ),
    user
      ? [
          h(
            'a',
            { class: 'person-name', href: '/password', title: say('password.title') },
            h('span', { class: 'initial', 'aria-hidden': 'true' }, initialOf(user.name)),
            user.name,
          ),
          h(
            'form',
            { method: 'post', action: '/logout', class: 'plain-form' },
            hiddenInputs(pairs),
            h('button', { class: 'button quiet small' }, icon('out', true), say('signout.submit')),
          ),
        ]
      : h('a', { href: signInFrom(url) }, say('signin.link')),
  )
}

/** On the page itself it keeps where its visitor wants to go. */
function signInFrom(url: string): string {
  return /^\/login(?:\?|$)/.test(url) ? url : `/login?next=${encodeURIComponent(url)}`
}

function initialOf(name: string): string {
  const [first = '?'] = name.trim()
  return first.toUpperCase()
}
