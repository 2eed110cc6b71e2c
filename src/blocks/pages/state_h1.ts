import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'state_h1',
  title: 'Heading',
  words: 'Heading {text}',
  summary: 'Adds a heading to the page.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    text: { type: 'value', required: true, help: 'Text of the heading.' },
    level: {
      type: 'number',
      default: 1,
      min: 1,
      max: 4,
      integer: true,
      help: 'Level: 1 for the heading of the page, 2 to 4 for its sections.',
    },
  },
  out: { state: { type: 'state', help: 'The page with the heading.' } },
  settings: {},
  value({ state, text, level }) {
    const rank = ([1, 2, 3, 4] as const).find((one) => one === level) ?? 1
    return { state: appendNode(state, { kind: 'heading', level: rank, text }) }
  },
})
