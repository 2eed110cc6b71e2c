import { appendNode } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'

const looks = ['normal', 'lead', 'muted', 'code'] as const

export default defineValue({
  identifier: 'state_text',
  title: 'Text',
  summary: 'Adds a text to the page. Lines end where they end; an empty line starts a new paragraph.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    text: { type: 'value', default: '', help: 'The text. Nothing in it is taken for HTML.' },
    look: {
      type: 'value',
      choices: looks,
      default: 'normal',
      help: 'How it looks: normal, lead for an introduction, muted for something less important, code with letters of one width.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the text.' } },
  settings: {},
  value({ state, text, look }) {
    const variant = looks.find((one) => one === look) ?? 'normal'
    return { state: appendNode(state, { kind: 'text', text, variant }) }
  },
})
