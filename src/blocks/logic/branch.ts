import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'branch',
  title: 'Branch',
  summary: 'Goes on at true or at false, as the condition says.',
  ends: true,
  repeatable: true,
  in: { condition: { type: 'condition', help: 'Decides where it goes on. Empty counts as false.' } },
  out: {
    true: { type: 'flow', help: 'Taken when the condition holds.' },
    false: { type: 'flow', help: 'Taken when it does not.' },
  },
  settings: {},
  run: ({ condition }) => ({ next: condition ? 'true' : 'false' }),
})
