import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './state_form_error.ts'

test.each([
  [{ message: 'Taken.' }, []],
  [{ message: 'Taken.', field: 'name' }, ['name']],
])('%j fails the run with its words', async (inputs, fields) => {
  await expect(runBlock(block, { inputs })).rejects.toMatchObject({
    code: 'INVALID_BODY',
    message: 'Taken.',
    fields,
  })
})

test('it leads nowhere', () => {
  expect(Object.keys(block.out)).toEqual(['error'])
})
