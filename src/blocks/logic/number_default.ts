import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'number_default',
  title: 'Number or default',
  words: '{value} or[ {default}]',
  summary: 'A number, with a default for empty values. Without wires: a constant.',
  in: {
    value: { type: 'number', help: 'The number to use if it is not empty. 0 is a number.' },
    default: { type: 'number', help: 'Used if the value is missing.' },
  },
  out: { number: { type: 'number', help: 'The value, or the default if it is empty.' } },
  settings: {},
  value: (inputs) => ({ number: inputs.value ?? inputs.default }),
})
