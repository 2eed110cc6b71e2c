/** `ask_model` and `embed` with a model that is really there: where an address is set, such as that of a provider or of a server on this machine. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const {
  QUOIN_TORTURE_MODEL_URL: address = '',
  QUOIN_TORTURE_MODEL_KEY: key = '',
  QUOIN_TORTURE_MODEL: model = '',
  QUOIN_TORTURE_EMBEDDING_MODEL: embedding = '',
} = process.env

let quoin: TestQuoin
beforeAll(async () => {
  if (address === '') return
  quoin = await openTestQuoin({
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
    QUOIN_ALLOWED_HOSTS: new URL(address).host,
  })
  if (key !== '') await quoin.manage('POST', '/_system/secrets', { name: 'MODEL_KEY', value: key })
  const auth = key === '' ? { kind: 'none' } : { kind: 'bearer', secret: 'MODEL_KEY' }
  await quoin.manage('POST', '/_system/connections', { name: 'MODEL', base_url: address, auth })
})
afterAll(() => quoin?.close())

const asks = {
  flow: '@on.flow',
  connection: 'MODEL',
  model,
  max_tokens: 500,
  money_per_run: 1,
  seconds_per_run: 120,
}

/** What a flow with one block behind its trigger replies. */
async function replyOf(
  uri: string,
  block: JsonObject,
  value: string,
  more: JsonObject = {},
): Promise<unknown> {
  await quoin.install(uri, {
    on: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
    ask: block,
    reply: { type: 'reply', in: { flow: '@ask.flow', value } },
    ...more,
  })
  const reply = await quoin.send('GET', `/${uri}`)
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return reply.body
}

test.skipIf(address === '')(
  'a model answers with a text, with fields and with the help of a function (no address is set)',
  async () => {
    const input = 'Answer with the one word: quoin'
    const used = '={ answer: ask.answer, sent: ask.tokens_in, received: ask.tokens_out }'
    expect(await replyOf('text', { type: 'ask_model', in: { ...asks, input } }, used)).toEqual({
      answer: expect.stringMatching(/quoin/i),
      sent: expect.any(Number),
      received: expect.any(Number),
    })
    const fields = [
      { name: 'city', type: 'text', required: true },
      { name: 'people', type: 'whole number', required: true },
    ]
    const letter = { ...asks, input: 'Four people book a table in Lisbon.' }
    const read = { type: 'ask_model', in: letter, fields: { fields } }
    expect(await replyOf('fields', read, '@ask.answer')).toEqual({
      city: expect.stringMatching(/lisbon/i),
      people: 4,
    })
    const question = {
      ...asks,
      input: 'How many saws are in stock? Use the tool, and answer with the number.',
    }
    const calls = { type: 'ask_model', in: question, fields: { tools: ['stock'] } }
    const stock = {
      stock: {
        type: 'trigger_custom_function',
        fields: { name: 'stock', description: 'How many of a good are in stock.' },
        out: [{ id: 'good', type: 'value' }],
      },
      done: { type: 'function_return', in: { flow: '@stock.flow', value: 7319 } },
    }
    expect(String(await replyOf('tools', calls, '@ask.answer', stock))).toMatch(/7[,.]?319/)
  },
)

test.skipIf(address === '' || embedding === '')(
  'a model makes vectors (no address or model is set)',
  async () => {
    const input = ['a cat', 'a kitten', 'a tax return']
    const { flow, connection } = asks
    const block = { type: 'embed', in: { flow, connection, model: embedding, input } }
    const vectors = await replyOf('vectors', block, '@ask.vectors')
    const [cat, kitten, tax] = Array.isArray(vectors) ? vectors : []
    const product = (one: readonly number[], other: readonly number[]) =>
      one.reduce((sum, part, at) => sum + part * (other[at] ?? 0), 0)
    expect(product(cat, kitten)).toBeGreaterThan(product(cat, tax))
  },
)
