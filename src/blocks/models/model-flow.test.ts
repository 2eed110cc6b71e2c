import { afterAll, beforeAll, expect, test } from 'vitest'
import { calls, type ModelTestServer, says, startModelServer } from '../../../test/model-server.ts'
import { runBlock } from '../../../test/run-block.ts'
import { type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'
import { BlockTimes } from '../../flows/samples/sampled-runs.ts'
import { ensureLimits, limitCounts } from '../../records/limits/limit-counts.ts'
import { matchAll } from '../../shared/query.ts'
import ask from './ask_model.ts'

let server: ModelTestServer
let fixture: FlowFixture
beforeAll(async () => {
  server = await startModelServer()
  fixture = await openFlowFixture()
  await ensureLimits(fixture.database)
})
afterAll(async () => {
  await fixture.close()
  await server.close()
})

test('a model books by a custom function with typed parameters, and what it wrote is there when it is asked again', async () => {
  await fixture.database.ensure('bookings')
  const before = await bookings()
  let stored = 0
  server.answers(calls(['book', '{"seats":"two"}'], ['book', '{"seats":2}']), async (...asked) => {
    stored = await bookings()
    says('Booked.')(...asked)
  })
  const { replies, end } = await fixture.run({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
    ask: {
      type: 'ask_model',
      in: { flow: '@get.flow', url: `${server.url}/chat/completions`, model: 'm', input: 'Two seats.' },
      fields: { tools: ['book'] },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: '@ask.answer' } },
    book: {
      type: 'trigger_custom_function',
      fields: { name: 'book', description: 'Books seats.' },
      out: [{ id: 'seats', type: 'number' }],
    },
    docs: { type: 'storage', fields: { storage: 'bookings' } },
    set: { type: 'mutations_set_custom_field', in: { field: 'seats', value: '@book.seats' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@book.flow', storage: '@docs.storage', mutations: '@set.mutations' },
    },
    done: { type: 'function_return', in: { flow: '@create.flow', value: 'ok' } },
  })
  expect(end.error).toBeUndefined()
  expect(replies[0]?.value).toBe('Booked.')
  expect(stored - before).toBe(1)
  const [first, second] = server.seen
  expect(JSON.stringify(first?.tools)).toContain('"description":"Books seats."')
  expect(JSON.stringify(second?.messages)).toContain('seats must be')
})

const bookings = () => fixture.database.session().count('bookings', matchAll)

test('tokens of a day are counted in the database, over nodes', async () => {
  server.answers(says('x'))
  const nodes = [limitCounts(fixture), limitCounts(fixture)]
  const budget = `test ${Date.now()}`
  const askOn = (node: number, tokens: number) =>
    runBlock(ask, {
      ...{ allowedHosts: ['127.0.0.1'], services: { counts: nodes[node] ?? limitCounts(fixture) } },
      inputs: {
        ...{ url: `${server.url}/chat/completions`, model: 'm', input: 'x' },
        ...{ tokens_per_day: tokens, budget },
      },
    })
  expect((await askOn(0, 40)).next).toBe('flow')
  expect((await askOn(1, 40)).next).toBe('flow')
  // 30 are used, and this one goes beyond: what it used counts all the same.
  expect((await askOn(0, 40)).next).toBe('flow')
  expect((await askOn(1, 40)).next).toBe('exceeded')
  expect((await askOn(0, 45)).next).toBe('exceeded')
  expect((await askOn(1, 46)).next).toBe('flow')
  expect(server.seen).toHaveLength(4)
})

test('the tokens of a run count over its loops and functions', async () => {
  server.answers(says('x'))
  const asks = { url: `${server.url}/chat/completions`, model: 'm', input: 'x', tokens_per_run: 40 }
  const { end } = await fixture.run({
    get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
    first: { type: 'ask_model', in: { flow: '@get.flow', ...asks } },
    all: { type: 'each', in: { flow: '@first.flow', list: [1, 2, 3, 4] } },
    call: { type: 'function_custom_execute', in: { flow: '@all.each', function: 'one' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@all.flow', value: 'all' } },
    one: { type: 'trigger_custom_function', fields: { name: 'one' } },
    second: { type: 'ask_model', in: { flow: '@one.flow', ...asks } },
    done: { type: 'function_return', in: { flow: '@second.flow', value: '@second.answer' } },
  })
  expect(end.error?.message).toContain('more than 40 tokens, which is tokens_per_run')
  expect(server.seen).toHaveLength(3)
})

test('sampled runs have the tokens and the cost of the blocks that ask, and nothing that was said', async () => {
  server.answers(says('secret'))
  const recorder = new BlockTimes()
  const asks = { url: `${server.url}/chat/completions`, model: 'm', input: 'x', price_in: 2, price_out: 10 }
  const flow = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
    all: { type: 'each', in: { flow: '@get.flow', list: [1, 2] } },
    ask: { type: 'ask_model', in: { flow: '@all.each', ...asks } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@all.flow', value: 'done' } },
  }
  await fixture.run(flow, {}, {}, { recorder })
  const used = [...recorder.used].map(([{ node }, use]) => [node.block.guid, use])
  expect(used).toEqual([['ask', { tokens: 30, cost: 0.00014 }]])
})
