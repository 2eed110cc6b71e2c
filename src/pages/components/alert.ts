import { type ComponentChild, h } from 'preact'
import type { Tone } from '../../shared/pages/page-content.ts'
import { icon } from './icon.ts'

interface Alert {
  readonly tone: Tone
  readonly title?: string
  readonly text: string
  /** It answers an action of the user, so screen readers announce it. */
  readonly spoken?: boolean
}

export function alert({ tone, title, text, spoken }: Alert): ComponentChild {
  return h(
    'div',
    { class: `alert ${tone}`, role: spoken ? (tone === 'danger' ? 'alert' : 'status') : undefined },
    icon(tone),
    h('div', null, title === undefined ? null : h('strong', null, title), h('p', null, text)),
  )
}
