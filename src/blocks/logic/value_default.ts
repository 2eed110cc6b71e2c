import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'value_default',
  title: 'Value or default',
  words: '{value} or[ {default}]',
  summary: 'A text, with a default for empty values. Without wires: a constant.',
  in: {
    value: { type: 'value', help: 'The text to use if it is not empty.' },
    default: { type: 'value', help: 'Used if the value is missing or has no characters.' },
  },
  out: { value: { type: 'value', help: 'The value, or the default if it is empty.' } },
  settings: {},
  value: (inputs) => ({ value: inputs.value || inputs.default }),
})
