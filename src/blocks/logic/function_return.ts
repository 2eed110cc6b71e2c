import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'function_return',
  title: 'Return',
  words: 'Return[ {value}]',
  summary: 'Ends the function and returns a value to its caller.',
  ends: true,
  in: { value: { type: 'any', help: 'The result. Empty: the function returns none.' } },
  out: {},
  settings: {},
  run({ value }, context) {
    context.finish(value)
    return { next: null }
  },
})
