/**
 * Calls of other servers, answered by the test: a real HTTP server on this machine, to which every connection of the cluster leads,
 * whatever host it is for. What is sent there and came back is what a flow sees of any server.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { Agent, buildConnector } from 'undici'
import type { JsonValue } from '../../shared/json.ts'
import type { RecordedReply } from './scenario-file.ts'

export interface AnsweredCall {
  /** `POST https://pay.example/charges` as far as the test has a reply for it, else with `http`. */
  readonly to: string
  readonly headers: Readonly<Record<string, string>>
  /** Parsed if it is JSON, else the text. */
  readonly body: JsonValue
}

export interface AnsweredCalls {
  /** Another one in each test that comes after one with calls: what was cached of replies belongs to it. */
  readonly agent: () => Agent
  readonly calls: AnsweredCall[]
  /** Calls that no reply is given for: each as the line that answers it. */
  readonly unanswered: string[]
  /** From now on these replies, and no call was made. Calls of the `live` servers are sent. */
  begin(replies: readonly RecordedReply[], live: readonly string[]): Promise<void>
  close(): Promise<void>
}

export async function answerCalls(): Promise<AnsweredCalls> {
  const calls: AnsweredCall[] = []
  const unanswered: string[] = []
  const left: RecordedReply[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers, url = '' } = request
    const at = `${headers.host ?? ''}${url}`
    const sent = await text(request)
    const reply = take(left, method, at)
    calls.push({
      to: reply?.to ?? `${method} http://${at}`,
      headers: namedHeaders(headers),
      body: parsed(sent),
    })
    if (reply === undefined) {
      unanswered.push(JSON.stringify({ to: `${method} https://${at}`, status: 200, body: {} }))
      response.writeHead(501, { 'content-type': 'text/plain' }).end('The test has no reply for this call.')
      return
    }
    const { status = 200, body } = reply
    const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
    response.writeHead(status, { ...(body !== undefined && { 'content-type': type }), ...reply.headers })
    response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  let direct: ReadonlySet<string> = new Set()
  let agent = agentOf(port, direct)
  return {
    agent: () => agent,
    calls,
    unanswered,
    async begin(replies, live) {
      left.splice(0, left.length, ...replies)
      // Connections to servers do not outlast the test either.
      if (calls.length === 0 && direct.size === 0 && live.length === 0) return
      direct = new Set(live)
      calls.length = 0
      unanswered.length = 0
      const former = agent
      agent = agentOf(port, direct)
      await former.destroy()
    },
    async close() {
      await agent.destroy()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

/** `api.example:443`. */
export function hostOf({ hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** All its connections lead to this port of this machine, but for those to servers that are asked. */
function agentOf(port: number, direct: ReadonlySet<string>): Agent {
  const connector = buildConnector({})
  return new Agent({
    connect(options, callback) {
      if (direct.has(hostOf(options))) return connector(options, callback)
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null))
    },
  })
}

function namedHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** The first reply that fits; one that is the last for its address answers again and again. */
function take(left: RecordedReply[], method: string, at: string): RecordedReply | undefined {
  const fitting = left.filter(({ to }) => fits(to, method, at))
  const [reply] = fitting
  if (reply !== undefined && fitting.length > 1) left.splice(left.indexOf(reply), 1)
  return reply
}

function fits(to: string, method: string, at: string): boolean {
  const [requested = '', address = ''] = to.split(' ')
  const path = address.replace(/^https?:\/\//, '')
  if (requested !== method) return false
  return path.endsWith('*') ? at.startsWith(path.slice(0, -1)) : path === at || `${path}/` === at
}

function parsed(sent: string): JsonValue {
  if (sent === '') return null
  try {
    return JSON.parse(sent)
  } catch {
    return sent
  }
}
