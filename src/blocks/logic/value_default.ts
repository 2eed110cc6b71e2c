import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'value_default',
  title: 'Value or default',
  summary: 'A text of your own, or the one that comes in with your own where that is empty.',
  in: {
    value: { type: 'value', help: 'The text to use when it is there.' },
    default: { type: 'value', help: 'Used when the value is missing or has no characters.' },
  },
  out: { value: { type: 'value', help: 'The value, or the default when it is empty.' } },
  settings: {},
  value: (inputs) => ({ value: inputs.value || inputs.default }),
})
