import type { JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import type { RunVariables } from '../context.ts'
import { variableName } from './variable-name.ts'

export default defineFlow({
  identifier: 'set_value',
  title: 'Set a variable',
  words: 'Set {name}[ to {value}]',
  summary:
    'Stores a value under a name until the run ends: replaces it, adds a number to it or appends an item to its list. "Variable" gives it. All variables of a run hold at most a million values and 16 million characters.',
  effects: { setsVariables: true, cacheable: true, callerIndependent: true },
  in: { value: { type: 'any', help: 'The value, the number to add or the item to append.' } },
  out: { value: { type: 'any', help: 'The new value of the variable.' } },
  settings: {
    name: variableName,
    mode: {
      kind: 'choice',
      options: ['set', 'add', 'append'],
      default: 'set',
      help: 'Choose set to replace the value, add to add a number (from 0 on), append to add an item to a list of at most 10,000.',
    },
  },
  run({ value }, { settings: { name, mode }, variables, wired }) {
    const problem = change(variables, name, mode, value)
    if (problem !== undefined) throw new PinError('value', problem)
    // A list that was read is copied before it grows again, so it is read only where it is wanted.
    return wired('value') ? { value: variables.get(name) } : {}
  },
})

function change(
  variables: RunVariables,
  name: string,
  mode: string,
  value: JsonValue | undefined,
): string | undefined {
  if (mode === 'set') return variables.set(name, value)
  if (mode === 'append') return variables.append(name, value ?? null)
  const before = variables.get(name) ?? 0
  const more = value ?? 0
  if (typeof before !== 'number') return 'cannot be added: the variable holds no number'
  if (typeof more !== 'number') return 'must be a number'
  const sum = before + more
  return Number.isFinite(sum) ? variables.set(name, sum) : 'makes the sum larger than a number can be'
}
