import { expect, test } from 'vitest'
import { requestWith, runBlock } from '../../../test/run-block.ts'
import block from './condition_has_scope.ts'

test('a scope without a name is refused', async () => {
  await expect(runBlock(block, { inputs: {} })).rejects.toThrow('is empty')
})

test.each([
  [undefined, 'crm_write', false],
  [[], 'crm_write', false],
  [['crm_read'], 'crm_write', false],
  [['crm_write_more'], 'crm_write', false],
  [['crm_read', 'crm_write'], 'crm_write', true],
  [['crm_write'], ' crm_write ', true],
  [['*'], 'crm_write', true],
])('%j holds %s: %j', async (scopes, scope, condition) => {
  const request = requestWith(scopes ? { scopes: new Set(scopes) } : {})
  expect((await runBlock(block, { inputs: { scope }, request })).outputs).toEqual({ condition })
})

test('a run without a request holds no scope', async () => {
  const { outputs } = await runBlock(block, { inputs: { scope: 'crm_write' }, user: { username: 'ada' } })
  expect(outputs).toEqual({ condition: false })
})
