import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { runVariables } from '../../flows/run/run-services.ts'
import block from './value.ts'

const variables = runVariables()
variables.set('none', 0)
variables.set('list', [1])

test.each([
  ['unknown', undefined, undefined],
  ['unknown', 'standard', 'standard'],
  ['__proto__', 'standard', 'standard'],
  ['none', 5, 0],
  ['list', undefined, [1]],
])('%s with the default %j is %j', async (name, standard, value) => {
  const ran = await runBlock(block, { inputs: { default: standard }, fields: { name }, variables })
  expect(ran.outputs.value).toEqual(value)
})
