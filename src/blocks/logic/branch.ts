import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'branch',
  title: 'Branch',
  words: 'If {condition}',
  summary: 'Continues at true or at false, depending on the condition.',
  ends: true,
  effects: { cacheable: true },
  in: { condition: { type: 'condition', help: 'The condition. Empty counts as false.' } },
  out: {
    true: { type: 'flow', help: 'Continues here if the condition is true.' },
    false: { type: 'flow', help: 'Continues here if it is false.' },
  },
  settings: {},
  run: ({ condition }) => ({ next: condition ? 'true' : 'false' }),
})
