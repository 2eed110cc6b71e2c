import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'function_return',
  title: 'Return',
  summary: 'Ends the function with a result: whoever called it gets the value.',
  ends: true,
  in: { value: { type: 'any', help: 'The result. Empty: the function gives nothing.' } },
  out: {},
  settings: {},
  run({ value }, context) {
    context.finish(value)
    return { next: null }
  },
})
