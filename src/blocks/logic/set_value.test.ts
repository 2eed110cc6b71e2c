import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { runVariables } from '../../flows/run/run-services.ts'
import type { JsonValue } from '../../shared/json.ts'
import block from './set_value.ts'

const set = (mode: string, value: JsonValue | undefined, variables = runVariables(), wired = ['value']) =>
  runBlock(block, { inputs: { value }, fields: { name: 'x', mode }, variables, wired })

function holding(value: JsonValue) {
  const variables = runVariables()
  expect(variables.set('x', value)).toBeUndefined()
  return variables
}

test.each([
  ['add', 'text', holding(1), 'must be a number'],
  ['add', 1, holding('text'), 'holds no number'],
  ['add', Number.MAX_VALUE, holding(Number.MAX_VALUE), 'larger than a number can be'],
  ['append', 1, holding('text'), 'holds no list'],
  ['append', 1, holding(Array.from({ length: 10_000 }, () => 0)), 'longer than 10,000 items'],
  ['append', 'x'.repeat(9_000_000), holding(['x'.repeat(9_000_000)]), 'more than 16,777,216 characters'],
  ['set', Array.from({ length: 1_000_001 }, () => 0), runVariables(), '1,000,000 values'],
])('%s: a value that cannot be stored changes nothing (%#)', async (mode, value, variables, message) => {
  const before = variables.get('x')
  await expect(set(mode, value, variables)).rejects.toMatchObject({
    name: 'PinError',
    message: expect.stringContaining(message),
  })
  expect(variables.get('x')).toBe(before)
})

test.each([
  ['set', 5, runVariables(), 5],
  ['set', 5, holding('before'), 5],
  ['set', undefined, holding('before'), undefined],
  ['add', 2, runVariables(), 2],
  ['add', -2, holding(5), 3],
  ['add', undefined, holding(5), 5],
  ['append', 'a', runVariables(), ['a']],
  ['append', undefined, holding([1]), [1, null]],
  ['append', [2], holding([1]), [1, [2]]],
])('%s of %j', async (mode, value, variables, after) => {
  expect((await set(mode, value, variables)).outputs.value).toEqual(after)
  expect(variables.get('x')).toEqual(after)
})

test('what was set and replaced makes room again', () => {
  const variables = runVariables()
  for (let round = 0; round < 5; round += 1) expect(variables.set('x', 'x'.repeat(9_000_000))).toBeUndefined()
  expect(variables.set('y', 'x'.repeat(9_000_000))).toMatch('16,777,216 characters')
  variables.set('x', undefined)
  expect(variables.set('y', 'x'.repeat(9_000_000))).toBeUndefined()
})

test('a list that was read does not change when it grows', async () => {
  const variables = holding([1])
  const input = variables.get('x')
  await set('append', 2, variables)
  const later = variables.get('x')
  await set('append', 3, variables, [])
  expect([input, later, variables.get('x')]).toEqual([[1], [1, 2], [1, 2, 3]])
})
