import { expect, test } from 'vitest'
import { entityTag, longReply } from './sent-replies.ts'

test.each([
  ['ASCII', 'a'.repeat(1_200_000)],
  ['characters of two units, at every end of a piece', `${'👍'.repeat(400_000)}`],
  ['the same by one unit further', `a${'👍'.repeat(400_000)}`],
  ['nothing', ''],
])('%s: the bytes and the tag are those of the whole text', async (_, text) => {
  const { bytes, tag } = await longReply(text)
  expect(bytes.equals(Buffer.from(text))).toBe(true)
  expect(tag).toBe(entityTag(text))
})

test('other work runs while a long reply is made', async () => {
  let turns = 0
  const other = () => {
    turns += 1
    turn = setImmediate(other)
  }
  let turn = setImmediate(other)
  await longReply('é'.repeat(40_000_000))
  clearImmediate(turn)
  expect(turns).toBeGreaterThan(1)
})
