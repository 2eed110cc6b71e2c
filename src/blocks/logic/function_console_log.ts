import { defineFlow } from '../block.ts'
import type { LogLevel } from '../context.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

export default defineFlow({
  identifier: 'function_console_log',
  title: 'Log',
  words: 'Log[ {value}]',
  summary: 'Writes a value to the system log, with run, blueprint and block.',
  effects: { callerIndependent: true },
  in: {
    value: { type: 'any', help: 'The value to log: text, a number, an object, a list.' },
    level: {
      type: 'value',
      default: 'info',
      choices: levels,
      help: 'Log level: debug, info, warn or error.',
    },
  },
  out: {},
  settings: {},
  run({ value, level }, context) {
    context.log(levels.find((known) => known === level) ?? 'info', value)
    return undefined
  },
})
