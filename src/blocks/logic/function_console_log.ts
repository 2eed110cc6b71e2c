import { defineFlow } from '../block.ts'
import type { LogLevel } from '../context.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

export default defineFlow({
  identifier: 'function_console_log',
  title: 'Log',
  summary: 'Writes a value to the system log, with the run, the blueprint and the block it came from.',
  ignoresCaller: true,
  in: {
    value: { type: 'any', help: 'What to write: text, a number, an object, a list.' },
    level: {
      type: 'value',
      default: 'info',
      choices: levels,
      help: 'How much it matters: debug, info, warn or error.',
    },
  },
  out: {},
  settings: {},
  run({ value, level }, context) {
    context.log(levels.find((known) => known === level) ?? 'info', value)
    return undefined
  },
})
