import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './condition_has_field.ts'

test.each([
  [undefined, 'title', false],
  [{}, 'title', false],
  [{ other: 1 }, 'title', false],
  [{ title: 'a' }, 'title', true],
  [{ title: '' }, 'title', true],
  [{ title: null }, 'title', true],
  [{ customer: { name: 'Ada' } }, 'customer.name', true],
  [{ customer: 'Ada' }, 'customer.name', false],
  [{}, 'toString', false],
])('%j has %s: %j', async (object, field, condition) => {
  expect((await runBlock(block, { inputs: { object, field } })).outputs).toEqual({ condition })
})

test.each([['__proto__'], ['a..b']])('%s is no field name', async (field) => {
  await expect(runBlock(block, { inputs: { object: {}, field } })).rejects.toMatchObject({ pin: 'field' })
})
