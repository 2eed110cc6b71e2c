import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import block from './user_current.ts'

const ada = { _meta: { guid: 'a' }, username: 'ada' }
const bob = { _meta: { guid: 'b' }, username: 'bob' }

test.each([
  ['no request and no user', {}, undefined],
  ['a visitor’s request', { request: requestWith() }, undefined],
  ['a visitor’s request, whatever else there is', { request: requestWith(), user: bob }, undefined],
  ['a signed-in user’s request', { request: requestWith({ user: ada }) }, ada],
  ['a job that a user caused', { user: bob }, bob],
])('%s', async (_what, input, user) => {
  const { outputs } = await runBlock(block, input)
  expect(outputs).toEqual({ user, signed_in: user !== undefined })
})
