import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { ChannelReply } from '../reply.ts'
import block from './subscribe.ts'

const subscribe = (inputs: Record<string, unknown>) => runBlock(block, { inputs })

test.each([
  ['no channel', {}, 'channel'],
  ['a long one', { channel: 'x'.repeat(201) }, 'channel'],
  ['a first value that is too long', { channel: 'a', first: 'x'.repeat(65_535) }, 'first'],
  ['no time', { channel: 'a', minutes: 0 }, 'minutes'],
  ['more than a day', { channel: 'a', minutes: 1_441 }, 'minutes'],
])('%s is refused', async (_name, inputs, pin) => {
  await expect(subscribe(inputs)).rejects.toThrow(expect.objectContaining({ pin }))
})

test.each([
  [{ channel: 'a' }, new ChannelReply('a', undefined, 3_600_000)],
  [{ channel: 'a', first: null }, new ChannelReply('a', undefined, 3_600_000)],
  [{ channel: 'a', first: false, minutes: 1 }, new ChannelReply('a', 'false', 60_000)],
])('%j is a stream', async (inputs, value) => {
  expect((await subscribe(inputs)).replies).toEqual([{ code: 200, value, headers: {} }])
})
