import { defineValue } from '../block.ts'
import { variableName } from './variable-name.ts'

export default defineValue({
  identifier: 'value',
  title: 'Variable',
  words: 'Variable {name}',
  summary: 'Gives the value that "Set a variable" has stored under a name in this run.',
  readsRun: true,
  // What a variable holds follows from the flow, whose blocks decide for themselves whether their reply can be kept.
  readsAddress: true,
  readsVariables: true,
  in: { default: { type: 'any', help: 'What is given until the variable is set.' } },
  out: {
    value: { type: 'any', help: 'The value of the variable. Empty if it is not set and has no default.' },
  },
  settings: { name: variableName },
  value: ({ default: standard }, { settings, variables }) => ({
    value: variables?.get(settings.name) ?? standard,
  }),
})
