/** A Quoin of several processes, and connections enough that each process has some of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'undici'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { installOver } from '../cluster/install-over.ts'
import { adminPassword, objectOf, type RunningProcess, startProcess } from './harness.ts'

/** With three processes, one of them has no connection once in 60,000 times. */
const CONNECTIONS = 30

export interface WorkerReply {
  readonly status: number
  /** Parsed; undefined when there was none. */
  readonly body: JsonValue | undefined
}

export interface PlainReply {
  readonly status: number
  readonly text: string
  /** Those that the flow decides. */
  readonly headers: Readonly<Record<string, unknown>>
}

/** One connection, and so one process, until it breaks. */
export interface Connection {
  /** Rejects when the connection breaks. */
  call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, sent?: Sent): Promise<WorkerReply>
  /** The reply as it was sent. */
  plain(method: 'GET' | 'HEAD' | 'POST' | 'PATCH', path: string, body?: JsonValue): Promise<PlainReply>
  close(): Promise<void>
}

interface Sent {
  readonly body?: JsonValue
  readonly token?: string
}

export interface WorkerRoom {
  readonly directory: string
  readonly process: RunningProcess
  readonly connections: readonly Connection[]
  /** The administrator's. */
  readonly token: string
  connect(): Connection
  /** The same request on each connection. */
  everywhere(path: string, token?: string): Promise<WorkerReply[]>
  /** On any connection, as the administrator; throws unless it is answered with 2xx. */
  manage(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonValue): Promise<JsonValue>
  install(name: string, blocks: JsonObject): Promise<string>
  /** Process ids of the readers. */
  readers(): number[]
  restart(): Promise<WorkerRoom>
  close(): Promise<void>
}

export async function openWorkerRoom(settings: Readonly<Record<string, string>> = {}): Promise<WorkerRoom> {
  return openIn(await mkdtemp(join(tmpdir(), 'quoin-test-')), settings)
}

async function openIn(directory: string, settings: Readonly<Record<string, string>>): Promise<WorkerRoom> {
  const node = await startProcess(directory, {
    QUOIN_WORKERS: '3',
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_EXAMPLES: '0',
    ...settings,
  })
  const connect = () => connectionTo(node.address)
  const connections = Array.from({ length: CONNECTIONS }, connect)
  const [first = connect()] = connections
  const body = { username: 'admin', password: adminPassword }
  const signedIn = await first.call('POST', '/auth/signin', { body })
  const token = String(objectOf(signedIn.body).access_token)
  let turn = 0
  return {
    directory,
    process: node,
    connections,
    token,
    connect,
    everywhere: (path, by) =>
      Promise.all(connections.map(({ call }) => call('GET', path, by === undefined ? {} : { token: by }))),
    async manage(method, path, sent) {
      turn = (turn + 1) % CONNECTIONS
      const reply = await (connections[turn] ?? first).call(method, path, {
        token,
        ...(sent !== undefined && { body: sent }),
      })
      if (reply.status >= 300)
        throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body ?? null
    },
    install: (name, blocks) => installOver(node.address, token, { name, blocks }),
    readers: () => childrenOf(node.pid),
    async restart() {
      await Promise.all(connections.map((one) => one.close()))
      return openIn(directory, settings)
    },
    async close() {
      await Promise.all(connections.map((one) => one.close()))
      await node.end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function connectionTo(address: string): Connection {
  const client = new Client(address)
  return {
    async call(method, path, { body, token } = {}) {
      const reply = await client.request({
        method,
        path: `/api/v1${path}`,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await reply.body.text()
      return { status: reply.statusCode, body: text === '' ? undefined : JSON.parse(text) }
    },
    async plain(method, path, body) {
      const reply = await client.request({
        method,
        path: `/api/v1${path}`,
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
      return {
        status: reply.statusCode,
        // As bytes: text() takes a byte order mark away.
        text: Buffer.from(await reply.body.arrayBuffer()).toString(),
        headers: headersOfFlow(reply.headers),
      }
    },
    close: () => client.destroy(),
  }
}

export function headersOfFlow(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = ['content-type', 'content-disposition', 'content-security-policy', 'location', 'etag', 'x-by']
  return Object.fromEntries(names.map((name) => [name, headers[name]]))
}

/** Ids of the processes that it started and that run. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => {
      const stat = statOf(one)
      return stat?.parent === pid && stat.state !== 'Z'
    })
}

/** undefined when there is no such process. */
export function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}
