import fastify from 'fastify'
import { expect, test } from 'vitest'
import { entityTag, longReply, tagReply } from './sent-replies.ts'

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

test.each([
  ['POST', 200, 3_000_000, true, undefined],
  ['GET', 404, 3_000_000, true, undefined],
  ['GET', 200, 3_000, false, entityTag('é'.repeat(3_000))],
  ['GET', 200, 3_000_000, true, entityTag('é'.repeat(3_000_000))],
] as const)(
  '%s, %i, %i characters: what is written next is bytes: %s',
  async (method, status, length, isBytes, tag) => {
    const app = fastify()
    const written: boolean[] = []
    app.addHook('onSend', tagReply)
    app.addHook('onSend', async (_request, _reply, payload) => {
      written.push(Buffer.isBuffer(payload))
      return payload
    })
    app.route({ method, url: '/', handler: (_request, reply) => reply.code(status).send('é'.repeat(length)) })
    const reply = await app.inject({ method, url: '/' })
    expect([written, reply.headers.etag]).toEqual([[isBytes], tag])
    expect(reply.body).toBe('é'.repeat(length))
    await app.close()
  },
)
