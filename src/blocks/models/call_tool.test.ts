/** Tools of real servers of the protocol's own library, in both eras, and of servers that misbehave. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { buffer, text as textOf } from 'node:stream/consumers'
import {
  createMcpHandler,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../../../test/local-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import type { JsonObject } from '../../shared/json.ts'
import { HttpConnection } from '../http-connection.ts'
import { Secret } from '../secret.ts'
import block from './call_tool.ts'

const seen: { method: string; authorization: string | undefined; session: boolean }[] = []
const used: unknown[] = []
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

const answers: Readonly<Record<string, object>> = {
  add: { content: [{ type: 'text', text: '5' }], structuredContent: { sum: 5 } },
  tell: { content: [{ type: 'text', text: 'The key is s3cret.' }] },
  say: {
    content: [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ],
  },
  draw: { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] },
  fail: { content: [{ type: 'text', text: 'no stock' }], isError: true },
}

function toolServer(): Server {
  const server = new Server({ name: 'tools', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/call', ({ params }) => {
    used.push(params.arguments)
    const answer = answers[params.name]
    if (!answer) throw new Error(`There is no tool ${params.name}.`)
    return { content: [], ...answer }
  })
  return server
}

async function webRequest(message: IncomingMessage): Promise<Request> {
  const { method = 'GET', headers } = message
  const bytes = await buffer(message)
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Request('http://localhost/mcp', {
    method,
    headers: pairs,
    ...(bytes.length > 0 && { body: bytes }),
  })
}

/** Each request by itself, in the revision of 2026. */
const modern = (request: Request) => createMcpHandler(toolServer, { legacy: 'reject' }).fetch(request)

/** With a session, as before. */
async function stateful(request: Request): Promise<Response> {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
  if (known) return known.handleRequest(request)
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  })
  await toolServer().connect(transport)
  return transport.handleRequest(request)
}

const listening =
  (answer: (request: Request) => Promise<Response>): RequestListener =>
  async (message, response) => {
    const { authorization } = message.headers
    seen.push({
      method: message.method ?? '',
      authorization,
      session: message.headers['mcp-session-id'] !== undefined,
    })
    const { status, headers, body } = await answer(await webRequest(message))
    response.writeHead(status, Object.fromEntries(headers))
    for await (const chunk of body ?? []) response.write(chunk)
    response.end()
  }

let servers: Readonly<Record<'modern' | 'stateful', LocalServer>>
beforeAll(async () => {
  servers = {
    modern: await startLocalServer(listening(modern)),
    stateful: await startLocalServer(listening(stateful)),
  }
})
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close()
})
beforeEach(() => {
  seen.length = 0
  used.length = 0
})

const call = (url: string, inputs: Record<string, unknown>, more: Circumstances = {}) =>
  runBlock(block, { allowedHosts: ['127.0.0.1'], ...more, inputs: { url, ...inputs } })

describe.each(['modern', 'stateful'] as const)('a server that is %s', (kind) => {
  const at = () => `${servers[kind].url}/mcp`

  test.each([
    ['add', { result: { sum: 5 }, text: '5' }],
    ['say', { result: 'one\ntwo', text: 'one\ntwo' }],
    ['draw', { result: '', text: '', content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }],
  ])('the tool %s answers', async (tool, expected) => {
    const { outputs } = await call(at(), { tool, arguments: { a: 2, b: 3 } })
    expect(outputs).toMatchObject(expected)
    expect(used).toEqual([{ a: 2, b: 3 }])
  })

  test('a tool that fails takes its way, or is an error of the block', async () => {
    const { next, outputs } = await call(at(), { tool: 'fail' })
    expect([next, outputs]).toMatchObject(['failed', { text: 'no stock' }])
    await expect(call(at(), { tool: 'fail' }, { wired: [] })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the tool fail failed',
      gave: { text: 'no stock' },
    })
  })

  test('a tool that is not there is an error that says what the server said', async () => {
    await expect(call(at(), { tool: 'nothing' })).rejects.toThrow(
      /refused the call: .*There is no tool nothing/,
    )
  })

  test('a connection signs in each request, and no host is reached that is not allowed', async () => {
    const connection = new HttpConnection('TOOLS', () => ({
      ...{ baseUrl: new URL(`${servers[kind].url}/`), headers: {}, identity: {} },
      signIn: { kind: 'bearer', secret: new Secret('KEY', () => 's3cret') },
    }))
    const { outputs } = await call('mcp', { tool: 'tell', connection })
    expect(outputs).toMatchObject({ text: 'The key is ***.' })
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer s3cret']))
    seen.length = 0
    await expect(call(at(), { tool: 'say' }, { allowedHosts: [] })).rejects.toMatchObject({ pin: 'url' })
    expect(seen).toEqual([])
  })
})

test('a session is ended', async () => {
  await call(`${servers.stateful.url}/mcp`, { tool: 'say' })
  expect(seen.at(-1)).toMatchObject({ method: 'DELETE', session: true })
  expect(sessions.size).toBe(0)
})

const events =
  (text: string): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)

/** A server without sessions, as before the revision of 2026, whose tool gives this. */
async function answered(
  message: IncomingMessage,
  response: ServerResponse,
  structuredContent: JsonObject,
  written: (text: string) => string = (text) => `data: ${text}\n\n`,
): Promise<void> {
  const { id, method } = JSON.parse((await textOf(message)) || '{}')
  const serverInfo = { name: 'x', version: '1' }
  const initialized = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
  if (method !== 'initialize' && method !== 'tools/call') {
    const error = { code: -32601, message: 'There is no such method.' }
    return void response
      .writeHead(id === undefined ? 202 : 400, { 'content-type': 'application/json' })
      .end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, error }))
  }
  const result = method === 'initialize' ? initialized : { content: [], structuredContent }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(written(JSON.stringify({ jsonrpc: '2.0', id, result })))
}

test('events whose lines end with carriage returns are read', async () => {
  for (const end of ['\r\n', '\r']) {
    const server = await startLocalServer(
      (message, response) =>
        void answered(message, response, { sum: 5 }, (text) => `: hi${end}data: ${text}${end}${end}`),
    )
    expect((await call(server.url, { tool: 'add' })).outputs.result).toEqual({ sum: 5 })
    await server.close()
  }
})

test.each<[string, RequestListener, string]>([
  [
    'is no MCP server',
    (_, response) => void response.end('Hello'),
    'did not answer as the Model Context Protocol says',
  ],
  ['refuses', (_, response) => void response.writeHead(403).end('{}'), 'replied with status 403'],
  [
    'answers without end',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const piece = Buffer.alloc(1024 * 1024, ' ')
      const more = () => void (response.write(piece) ? setImmediate(more) : response.once('drain', more))
      more()
      response.on('error', () => undefined)
    },
    'larger than',
  ],
  [
    'answers with a list of 2.5 million lists',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"a":[${'[],'.repeat(2_500_000)}[]]}`)
    },
    'more than 100,000 values',
  ],
  ['answers with a million events', events('data:x\n\n'.repeat(1_000_000)), 'more than 2,000 lines'],
  // Each took a walk to the end of all: 8 MiB held a node for minutes.
  ['answers with carriage returns alone', events('\r'.repeat(8_000_000)), 'more than 2,000 lines'],
  [
    'answers with what is nested too deep',
    (message, response) =>
      void answered(message, response, { deep: JSON.parse('['.repeat(70) + ']'.repeat(70)) }),
    'nested deeper than 64 levels',
  ],
  ['never answers', () => undefined, 'did not reply within'],
  ['closes', (message) => void message.socket.destroy(), 'could not be reached'],
])('a server that %s is an error of the block', async (_, listener, message) => {
  const server = await startLocalServer(listener)
  try {
    await expect(call(server.url, { tool: 'say', timeout: 1 })).rejects.toThrow(message)
  } finally {
    await server.close()
  }
})

test('a run that ends ends the call', async () => {
  const server = await startLocalServer(() => undefined)
  const stop = new AbortController()
  const going = call(server.url, { tool: 'say' }, { signal: stop.signal })
  stop.abort(new Error('The run is over.'))
  await expect(going).rejects.toThrow('The run is over.')
  await server.close()
})

test.each([
  ['no tool', { tool: '' }, 'tool'],
  ['no address', { tool: 'say', url: 'nowhere' }, 'url'],
])('%s is refused', async (_, inputs, pin) => {
  await expect(call('', inputs)).rejects.toMatchObject({ pin })
})
