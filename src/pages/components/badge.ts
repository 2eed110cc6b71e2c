import { type ComponentChild, h } from 'preact'
import type { Tone } from '../../shared/pages/page-content.ts'

export function badge({ text, tone }: { readonly text: string; readonly tone: Tone }): ComponentChild {
  return h('span', { class: `badge ${tone}` }, text)
}
