import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import block from './function_console_log.ts'

test.each(['fatal', 'INFO', 5])('the level %j is refused and nothing is logged', async (level) => {
  const ran = runBlock(block, { inputs: { value: 1, level } })
  await expect(ran).rejects.toThrow('must be one of debug, info, warn, error')
})

test.each([
  [{ value: 'a' }, { level: 'info', value: 'a' }],
  [
    { value: { a: [1] }, level: 'warn' },
    { level: 'warn', value: { a: [1] } },
  ],
  [
    { value: null, level: '' },
    { level: 'info', value: null },
  ],
  [{ level: 'debug' }, { level: 'debug', value: undefined }],
  [
    { value: new StoredJson('{"a":1}'), level: 'error' },
    { level: 'error', value: { a: 1 } },
  ],
])('%j logs %j', async (inputs, entry) => {
  const ran = await runBlock(block, { inputs })
  expect(ran.logs).toEqual([entry])
  expect(ran).toMatchObject({ next: 'flow', replies: [], outputs: {} })
})
