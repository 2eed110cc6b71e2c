import { afterAll, beforeAll, expect, test } from 'vitest'
import { json, type ModelTestServer, startModelServer } from '../../../test/model-server.ts'
import { runBlock } from '../../../test/run-block.ts'
import block from './embed.ts'

let server: ModelTestServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const embed = (inputs: Record<string, unknown>) =>
  runBlock(block, {
    allowedHosts: ['127.0.0.1'],
    inputs: { url: `${server.url}/v1/embeddings`, model: 'vectors', ...inputs },
  })

const vectors = (...all: readonly unknown[]) => json({ data: all, usage: { prompt_tokens: 4 } })

test('texts become vectors, in their order', async () => {
  server.answers(vectors({ index: 1, embedding: [0, 1] }, { index: 0, embedding: [1, 0] }))
  const { outputs } = await embed({ input: ['a', 'b'], dimensions: 2, price_in: 1 })
  const expected = [
    [1, 0],
    [0, 1],
  ]
  expect(outputs).toEqual({ vector: [1, 0], vectors: expected, tokens_in: 4, cost: 0.000004 })
  expect(server.seen).toEqual([
    { model: 'vectors', input: ['a', 'b'], encoding_format: 'float', dimensions: 2 },
  ])
})

test.each([
  ['no texts', []],
  ['too many', Array(101).fill('x')],
  ['an empty text', ['']],
  ['a number', [1]],
  ['a long text', 'x'.repeat(65_537)],
])('%s are refused', async (_, input) => {
  server.answers(vectors())
  await expect(embed({ input })).rejects.toThrow(expect.objectContaining({ pin: 'input' }))
  expect(server.seen).toEqual([])
})

test.each([
  ['too few vectors', vectors({ embedding: [1] }), '1 vectors for 2'],
  ['no list', json({ data: { index: 0 } }), '0 vectors for 2'],
  ['two for one text', vectors({ index: 0, embedding: [1] }, { index: 0, embedding: [1] }), 'two vectors'],
  [
    'texts in it',
    vectors({ index: 0, embedding: [1] }, { index: 1, embedding: ['x'] }),
    'other than numbers',
  ],
  [
    'a vector that is too long',
    vectors({ index: 0, embedding: Array(20_000).fill('x') }, { index: 1, embedding: [1] }),
    'a vector of 20000 numbers',
  ],
  [
    'another length',
    vectors({ index: 0, embedding: [1, 2] }, { index: 1, embedding: [1] }),
    'a vector of 1 numbers',
  ],
])('a reply with %s is an error of the block', async (_, answer, message) => {
  server.answers(answer)
  await expect(embed({ input: ['a', 'b'] })).rejects.toThrow(message)
})
