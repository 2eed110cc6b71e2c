import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'

const looks = ['normal', 'lead', 'muted', 'code'] as const

export default defineValue({
  identifier: 'state_text',
  title: 'Text',
  words: 'Text {text}',
  summary: 'Adds a text to the page. Line breaks are kept; an empty line starts a new paragraph.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    text: { type: 'value', default: '', help: 'The text. HTML in it is shown as text.' },
    look: {
      type: 'value',
      choices: looks,
      default: 'normal',
      help: 'Style: normal, lead for an introduction, muted for less important text, code for monospaced text.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the text.' } },
  settings: {},
  value({ state, text, look }) {
    const variant = looks.find((one) => one === look) ?? 'normal'
    return { state: appendNode(state, { kind: 'text', text, variant }) }
  },
})
