import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './publish.ts'

const publish = (inputs: Record<string, unknown>) => runBlock(block, { inputs })

test.each([
  ['no channel', { value: 1 }, 'channel'],
  ['an empty one', { channel: ' ', value: 1 }, 'channel'],
  ['a long one', { channel: 'x'.repeat(201), value: 1 }, 'channel'],
  ['a control character', { channel: 'a\nb', value: 1 }, 'channel'],
  ['a value that is too long', { channel: 'a', value: 'x'.repeat(65_535) }, 'value'],
  ['one of many parts', { channel: 'a', value: Array(40_000).fill(1) }, 'value'],
])('%s is refused', async (_name, inputs, pin) => {
  await expect(publish(inputs)).rejects.toThrow(expect.objectContaining({ pin }))
})

test.each([
  [{ a: [1, 'ü'] }, '{"a":[1,"ü"]}'],
  ['text', '"text"'],
  [undefined, 'null'],
  ['x'.repeat(65_534), `"${'x'.repeat(65_534)}"`],
])('%j is published', async (value, data) => {
  const { published, next } = await publish({ channel: ' orders ', value })
  expect([published, next]).toEqual([[{ channel: 'orders', data }], 'flow'])
})
