import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './ensure.ts'

test.each([
  [{ condition: true, status: 200 }, 'must be a whole number from 400 to 599'],
  [{ condition: false, code: 'two words' }, 'must be 1 to 64 letters'],
  [{ condition: 'perhaps' }, 'must be true or false'],
])('%j is refused', async (inputs, message) => {
  await expect(runBlock(block, { inputs })).rejects.toMatchObject({
    name: 'PinError',
    message: expect.stringContaining(message),
  })
})

test.each([[{ condition: false }], [{}], [{ condition: null }]])('%j ends the run', async (inputs) => {
  const failure = { status: 409, message: 'Sold out', code: 'SOLD_OUT', details: { left: 0 } }
  await expect(runBlock(block, { inputs: { ...inputs, ...failure } })).rejects.toMatchObject({
    code: 'FLOW_FAILED',
    status: 409,
    message: 'Sold out',
    flow: { code: 'SOLD_OUT', details: { left: 0 } },
  })
})

test('what holds continues, and replies nothing', async () => {
  const { next, replies } = await runBlock(block, { inputs: { condition: true, status: 409 } })
  expect([next, replies]).toEqual(['flow', []])
})
