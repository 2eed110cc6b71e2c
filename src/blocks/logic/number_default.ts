import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'number_default',
  title: 'Number or default',
  summary: 'A number of your own, or the one that comes in with your own where that is empty.',
  in: {
    value: { type: 'number', help: 'The number to use when it is there. 0 is a number.' },
    default: { type: 'number', help: 'Used when the value is missing.' },
  },
  out: { number: { type: 'number', help: 'The value, or the default when it is empty.' } },
  settings: {},
  value: (inputs) => ({ number: inputs.value ?? inputs.default }),
})
