import { appendNode } from '../../shared/pages/page-content.ts'
import { defineValue } from '../block.ts'
import { toneOf, tones } from './page-pins.ts'

export default defineValue({
  identifier: 'state_alert',
  title: 'Alert',
  words: 'Alert {text}',
  summary: 'Adds a highlighted message to the page.',
  in: {
    state: { type: 'state', help: 'Content above it.' },
    text: { type: 'value', required: true, help: 'Text of the message.' },
    title: { type: 'value', help: 'Short title.' },
    tone: { type: 'value', choices: tones, default: 'info', help: 'Kind of message.' },
  },
  out: { state: { type: 'state', help: 'The page with the message.' } },
  settings: {},
  value({ state, text, title, tone }) {
    return {
      state: appendNode(state, {
        kind: 'alert',
        tone: toneOf(tone),
        text,
        ...(title !== undefined && { title }),
      }),
    }
  },
})
