/**
 * What agents cost a server: a tool call that reads, 1,000 agents that are connected and idle, and a small function in the sandbox, beside the same
 * flow without it.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { draftScopes } from '../../src/shared/management-scopes.ts'
import { publicDocuments } from '../../test/public-documents.ts'
import { LONGEST_TURN_MS } from '../../test/turn-guard.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { MIB } from '../large-bodies.ts'
import { call, installBlueprint } from '../management-api.ts'
import { memoryOf } from '../process-memory.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

const AGENTS = 1_000
/** Messages of one key: 120 a minute are allowed. */
const OF_A_KEY = 100
const RUNS = 500
const WARM_UP = 50
/** An idle process gives memory back some 20 seconds after its last request. */
const REST_MS = 45_000
const MOST_TOOL_MS = 20
const MOST_MB = 50
const MOST_CODE_MS = 1
const MOST_DOCUMENT_MS = 2_000

export const agents: readonly Goal[] = [
  {
    id: 'agents-read',
    title: 'a tool call that reads',
    goal: `under ${MOST_TOOL_MS} ms at p50`,
    measure: (timing) => withServer(timing, measureTools),
  },
  {
    id: 'agents-idle',
    title: '1,000 idle agents',
    goal: `under ${MOST_MB} MB more`,
    measure: (timing) => withServer(timing, measureIdle),
  },
  {
    id: 'agents-code',
    title: '`run_code` of a small function, after the first',
    goal: `under ${MOST_CODE_MS} ms more at p50`,
    measure: (timing) => withServer(timing, measureCode),
  },
  {
    id: 'agents-openapi',
    title: 'five large public OpenAPI documents become blocks',
    goal: `each in under ${MOST_DOCUMENT_MS / 1_000} s, and another client waits at most ${LONGEST_TURN_MS} ms`,
    measure: (timing) => withServer(timing, measureDocuments),
  },
]

async function withServer(
  { core }: GoalTiming,
  work: (server: Candidate) => Promise<Reached>,
): Promise<Reached> {
  const server = await startQuoin({ core })
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

async function newKey(server: Candidate, name: string): Promise<string> {
  const made = await call(server, 'POST', 'users/me/keys', {
    name,
    scopes: [...draftScopes],
    endpoints: ['/mcp'],
  })
  if (!isJsonObject(made) || typeof made.key !== 'string') throw new Error('There is no key in the reply.')
  return made.key
}

/** As a client of the streamable transport sends it. */
function message(key: string, method: string, params: JsonObject = {}): RequestInit {
  return {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-06-18',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }
}

const calls: readonly (readonly [string, string, JsonObject])[] = [
  ['`search` of blocks', 'search', { in: 'blocks', text: 'create a document' }],
  ['`read` of a block', 'read', { kind: 'block', name: 'function_search' }],
  ['`search` of blueprints', 'search', { in: 'blueprints' }],
]

async function measureTools(server: Candidate): Promise<Reached> {
  const found: string[] = []
  let worst = 0
  for (const [label, name, args] of calls) {
    const sent = message(await newKey(server, label), 'tools/call', { name, arguments: args })
    const times: number[] = []
    for (let count = 0; count < OF_A_KEY; count += 1)
      times.push(await timeOf(`${server.base}/mcp`, sent, (text) => text.includes('"result"')))
    const p50 = median(times.slice(OF_A_KEY / 2))
    worst = Math.max(worst, p50)
    found.push(`${label} ${milliseconds(p50)} (the first ${milliseconds(times[0] ?? Number.NaN)})`)
  }
  return { found: found.join(', '), met: worst < MOST_TOOL_MS }
}

async function timeOf(url: string, sent: RequestInit, isRight: (text: string) => boolean): Promise<number> {
  const before = performance.now()
  const reply = await fetch(url, sent)
  const text = await reply.text()
  const took = performance.now() - before
  if (reply.status !== 200 || !isRight(text)) throw new Error(`${reply.status} ${text.slice(0, 200)}`)
  return took
}

/** Each has asked which tools there are, over a connection of its own that stays open. The control has asked for `/info` instead. */
async function measureIdle(server: Candidate): Promise<Reached> {
  const control = await grownBy(server, async () => 'GET /api/v1/info HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  let key = ''
  const grown = await grownBy(server, async (count) => {
    if (count % OF_A_KEY === 0) key = await newKey(server, `agents ${count}`)
    const { body, headers } = message(key, 'tools/list')
    const text = String(body)
    const all = { ...headers, host: '127.0.0.1', 'content-length': String(Buffer.byteLength(text)) }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${text}`
  })
  return {
    found: `${grown.toFixed(1)} MB more (as many idle connections without agents before: ${control.toFixed(1)} MB)`,
    met: grown < MOST_MB,
  }
}

/** Megabytes that are left when as many clients have sent this, and rest. */
async function grownBy(server: Candidate, sent: (count: number) => Promise<string>): Promise<number> {
  const before = resident(server)
  const sockets: Socket[] = []
  for (let count = 0; count < AGENTS; count += 1) sockets.push(await connected(server, await sent(count)))
  await wait(REST_MS)
  const grown = (resident(server) - before) / MIB
  const open = sockets.filter((socket) => socket.readable).length
  for (const socket of sockets) socket.destroy()
  if (open < AGENTS) throw new Error(`Only ${open} connections were still open.`)
  return grown
}

async function connected({ port }: Candidate, sent: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write(sent)
  const [first] = await once(socket, 'data')
  if (!String(first).startsWith('HTTP/1.1 200')) throw new Error(String(first).slice(0, 200))
  return socket.resume()
}

function resident({ pid }: Candidate): number {
  return memoryOf(pid)?.resident ?? Number.NaN
}

/** Two endpoints in turns: one that doubles a number with code, and one that replies at once. */
async function measureCode(server: Candidate): Promise<Reached> {
  const ask = (uri: string): JsonObject => ({
    type: 'on_startup_register_uri_post',
    in: { uri },
    scopes: ['*public'],
  })
  await installBlueprint(server, {
    name: 'Bench: code',
    blocks: {
      with: ask('bench/code'),
      twice: {
        type: 'run_code',
        in: { flow: '@with.flow', number: '=body.number' },
        fields: { parameters: ['number'], code: 'return number * 2' },
      },
      result: { type: 'httpconnection_set_json', in: { flow: '@twice.flow', value: '@twice.result' } },
      without: ask('bench/no-code'),
      reply: { type: 'httpconnection_set_json', in: { flow: '@without.flow', value: '=body.number * 2' } },
    },
  })
  const times: Record<string, number[]> = { code: [], 'no-code': [] }
  for (let number = 0; number < WARM_UP + RUNS; number += 1)
    for (const [uri, of] of Object.entries(times)) {
      const sent = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"number":${number}}`,
      }
      of.push(await timeOf(`${server.base}/api/v1/bench/${uri}`, sent, (text) => text === String(number * 2)))
    }
  const [first = Number.NaN] = times.code ?? []
  const [code = Number.NaN, plain = Number.NaN] = Object.values(times).map((of) => median(of.slice(WARM_UP)))
  const found = `${milliseconds(code - plain)} more: a request with it ${milliseconds(code)}, without ${milliseconds(plain)}; the first ${milliseconds(first)}`
  return { found, met: code - plain < MOST_CODE_MS }
}

/** Each is uploaded to a connection of its own, while another client asks `/info` one time after the other. */
async function measureDocuments(server: Candidate): Promise<Reached> {
  const found: string[] = []
  let [slowest, waited] = [0, 0]
  const quiet = await longestWait(server, wait(MOST_DOCUMENT_MS))
  for (const [at, [name, file]] of publicDocuments.entries()) {
    const made = await call(server, 'POST', '_system/connections', {
      name: `DOCUMENT_${at}`,
      base_url: 'https://example.org/v1',
    })
    if (!isJsonObject(made) || !isJsonObject(made._meta))
      throw new Error('There is no connection in the reply.')
    const path = `_system/connections/${String(made._meta.guid)}/document`
    // One begins with the mark of its encoding.
    const body: unknown = JSON.parse((await readFile(file(), 'utf8')).replace(/^\uFEFF/, ''))
    const before = performance.now()
    waited = Math.max(waited, await longestWait(server, call(server, 'PUT', path, body)))
    const took = performance.now() - before
    slowest = Math.max(slowest, took)
    found.push(`${name} ${milliseconds(took)}`)
  }
  return {
    found: `${found.join(', ')}; another client waited ${milliseconds(waited)} at most (with nothing beside it ${milliseconds(quiet)})`,
    met: slowest < MOST_DOCUMENT_MS && waited <= LONGEST_TURN_MS,
  }
}

/** Milliseconds that the slowest of the requests for `/info` took which were sent until the work had ended. */
async function longestWait(server: Candidate, work: Promise<unknown>): Promise<number> {
  let isOver = false
  const ended = work.finally(() => {
    isOver = true
  })
  let longest = 0
  while (!isOver) {
    const took = await timeOf(`${server.base}/api/v1/info`, {}, () => true)
    longest = Math.max(longest, took)
  }
  await ended
  return longest
}
