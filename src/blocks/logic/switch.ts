import type { JsonValue } from '../../shared/json.ts'
import { defineFlow } from '../block.ts'
import type { OutPins } from '../pin.ts'

/** By any name: the cases add ways. */
const out: Readonly<Record<string, { readonly type: 'flow'; readonly help: string }>> = {
  default: { type: 'flow', help: 'Continues here if no case is the value, and for an empty value.' },
}

export default defineFlow({
  identifier: 'switch',
  title: 'Switch',
  words: 'Switch on {value}',
  summary: 'Continues at the case that is the value: each case adds an out-pin of its name.',
  ends: true,
  effects: { cacheable: true, callerIndependent: true },
  in: { value: { type: 'any', help: 'The value: a text, a number or a condition.' } },
  out,
  settings: {
    cases: {
      kind: 'names',
      required: true,
      help: 'The values to tell apart, such as open, done and 5. The case 5 is taken by the number 5 and by the text 5.',
    },
  },
  moreOut: ({ cases }): OutPins =>
    Object.fromEntries(
      cases.map((name) => [name, { type: 'flow', help: `Continues here if the value is ${name}.` }]),
    ),
  run({ value }, { settings }) {
    const text = textOf(value)
    return { next: text !== undefined && settings.cases.includes(text) ? text : 'default' }
  },
})

function textOf(value: JsonValue | undefined): string | undefined {
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value)
}
