import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { toneOf, tones } from './page-pins.ts'

export default defineValue({
  identifier: 'state_badge',
  title: 'Badge',
  words: 'Badge {text}',
  summary: 'Adds a small label to the page, such as the state of a document.',
  in: {
    state: { type: 'state', help: 'Content before it.' },
    text: { type: 'value', required: true, help: 'One or two words.' },
    tone: { type: 'value', choices: tones, default: 'neutral', help: 'Colour. The text must say the same.' },
  },
  out: { state: { type: 'state', help: 'The page with the label.' } },
  settings: {},
  value: ({ state, text, tone }) => ({
    state: appendNode(state, { kind: 'badge', text, tone: toneOf(tone) }),
  }),
})
