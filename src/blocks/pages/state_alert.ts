import { appendNode } from '../../shared/page-content.ts'
import { defineValue } from '../block.ts'
import { toneOf, tones } from './page-tone.ts'

export default defineValue({
  identifier: 'state_alert',
  title: 'Alert',
  summary: 'Adds a message to the page that catches the eye.',
  in: {
    state: { type: 'state', help: 'What is above it.' },
    text: { type: 'value', required: true, help: 'What there is to say.' },
    title: { type: 'value', help: 'The same in a few words.' },
    tone: { type: 'value', choices: tones, default: 'info', help: 'What kind of message it is.' },
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
