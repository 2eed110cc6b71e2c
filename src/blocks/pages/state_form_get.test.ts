import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import block from './state_form_get.ts'

const values = { name: 'Ada', 'address.city': 'London', tags: ['a'] }
const submitted = { form: 'person', values }
const visit = {
  beginAgain: () => undefined,
  show: () => false,
  proceed: () => undefined,
  finish: () => undefined,
  submitted,
}
const request = requestWith({ visit })

test.each([
  ['another form', { form_id: 'other' }, request],
  ['no request', { form_id: 'person' }, undefined],
  ['no page', { form_id: 'person' }, requestWith()],
  ['nothing sent', { form_id: 'person' }, requestWith({ visit: { ...visit, submitted: undefined } })],
])('%s gives nothing', async (_what, inputs, input) => {
  const { outputs } = await runBlock(block, { inputs, ...(input && { request: input }) })
  expect(outputs).toEqual({})
})

test.each([
  [undefined, undefined],
  ['name', 'Ada'],
  ['address.city', 'London'],
  ['missing', undefined],
  ['toString', undefined],
])('the field %j has %j', async (field, value) => {
  const { outputs } = await runBlock(block, { inputs: { form_id: 'person', field }, request })
  expect(outputs).toEqual(field === undefined ? { values } : { values, value })
})
