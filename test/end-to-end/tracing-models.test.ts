/** Runs that ask models and tools of other servers, repeated: they get what was recorded, and nothing is asked. */
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let outside: LocalServer
let blueprint = ''
let asked = 0

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

/** A model whose answers count, and a server with one tool. */
function answerTo(url: string, { method, id, params }: JsonObject): JsonObject {
  if (url === '/chat/completions')
    return {
      choices: [
        { index: 0, message: { role: 'assistant', content: `answer ${asked}` }, finish_reason: 'stop' },
      ],
      usage,
    }
  if (url === '/embeddings') return { data: [{ index: 0, embedding: [asked, 0.5] }], usage }
  const reply = { jsonrpc: '2.0', id: id ?? null }
  if (method === 'initialize')
    return {
      ...reply,
      result: {
        protocolVersion: objectOf(params).protocolVersion ?? '',
        capabilities: { tools: {} },
        serverInfo: { name: 'tools', version: '1' },
      },
    }
  if (method === 'tools/call')
    return { ...reply, result: { content: [], structuredContent: { count: asked } } }
  return { ...reply, error: { code: -32601, message: 'Unknown' } }
}

beforeAll(async () => {
  outside = await startLocalServer(async (request, response) => {
    asked += 1
    const sent = await readText(request)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answerTo(request.url ?? '', sent === '' ? {} : objectOf(JSON.parse(sent)))))
  })
  quoin = await openTestQuoin({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${outside.port}` })
  blueprint = await quoin.install('Asks', {
    on: { type: 'on_startup_register_uri_post', in: { uri: 'asks' }, scopes: ['*public'] },
    ask: {
      type: 'ask_model',
      in: { flow: '@on.flow', url: `${outside.url}/chat/completions`, model: 'm', input: '=body.text' },
    },
    embed: {
      type: 'embed',
      in: { flow: '@ask.flow', url: `${outside.url}/embeddings`, model: 'm', input: '=ask.answer' },
    },
    call: {
      type: 'call_tool',
      in: {
        flow: '@embed.flow',
        url: `${outside.url}/mcp`,
        tool: 'count',
        arguments: '={ of: embed.vector }',
      },
    },
    code: {
      type: 'run_code',
      in: { flow: '@call.flow', tool: '=call.result.count', seed: '=ask.answer' },
      fields: { parameters: ['tool'], code: 'return [tool, Math.random()]' },
    },
    reply: {
      type: 'reply',
      in: {
        flow: '@code.flow',
        value:
          '={ answer: ask.answer, used: ask.tokens_in, vector: embed.vector, tool: call.result, code: code.result }',
      },
    },
  })
  await quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true })
})
afterAll(async () => {
  await quoin?.close()
  await outside?.close()
})

async function lastRun(): Promise<JsonObject> {
  const runs = async () => objectsOf(await quoin.manage('GET', `/runs?blueprint=${blueprint}&limit=1`))
  await expect.poll(async () => (await runs()).length, { timeout: 30_000 }).toBe(1)
  const [run] = await runs()
  return objectOf(await quoin.manage('GET', `/runs/${String(run?.guid)}`))
}

test('a run is repeated with the recorded answers of models, tools and code, and asks nothing', async () => {
  const first = await quoin.send('POST', '/asks', { body: { text: 'How many?' } })
  expect([first.status, first.body]).toEqual([
    200,
    expect.objectContaining({ answer: 'answer 1', used: 10, vector: [2, 0.5] }),
  ])
  const run = await lastRun()
  const before = asked
  const body: JsonValue = { state: 'saved', writes: 'discard' }
  const again = objectOf(await quoin.manage('POST', `/runs/${String(run.guid)}/replay`, body))
  expect(again).toMatchObject({ status: 'ended', compared: { same: true, status: [200, 200] } })
  expect(objectOf(again.reply).body).toEqual(first.body)
  expect(asked).toBe(before)
  // Counts of tokens are no secrets.
  expect(JSON.stringify(run.steps)).toMatch(/"tokens_in"[^}]{0,40}10/)
  // Control: a request that is sent again gets other answers.
  const second = await quoin.send('POST', '/asks', { body: { text: 'How many?' } })
  expect([second.body, asked > before]).toEqual([expect.not.objectContaining({ answer: 'answer 1' }), true])
})
