import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './fail.ts'

test.each([
  [{ status: 200 }, 'must be a whole number from 400 to 599'],
  [{ status: 600 }, 'must be a whole number from 400 to 599'],
  [{ status: 404.5 }, 'must be a whole number from 400 to 599'],
  [{ message: 'a'.repeat(2_001) }, 'must have at most 2000 characters'],
  [{ code: 'two words' }, 'must be 1 to 64 letters'],
  [{ details: 'text' }, 'must be an object'],
])('%j is refused', async (inputs, message) => {
  await expect(runBlock(block, { inputs })).rejects.toMatchObject({
    name: 'PinError',
    message: expect.stringContaining(message),
  })
})

test.each([
  [{}, 400, 'The request failed.', { code: undefined, details: undefined }],
  [{ status: '409', message: 'Sold out', code: '' }, 409, 'Sold out', { code: undefined }],
  [
    { status: 422, message: 'No', code: 'SOLD_OUT', details: { left: 0 } },
    422,
    'No',
    { code: 'SOLD_OUT', details: { left: 0 } },
  ],
])('%j ends the run with %i', async (inputs, status, message, flow) => {
  await expect(runBlock(block, { inputs })).rejects.toMatchObject({
    code: 'FLOW_FAILED',
    status,
    message,
    flow,
  })
})
