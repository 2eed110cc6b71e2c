/**
 * Quoin as a whole, for scenarios: in this process without a port (`openTestQuoin`), or as the process that `npm start`
 * runs (`startProcess`). Both on a folder of their own, with a real database.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { matchAll, search } from '../../src/shared/query.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { copyQuoinFile, quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'

export const adminPassword = 'correct horse battery staple'
export const userPassword = 'a password of a user'

export interface Answer {
  readonly status: number
  /** Parsed if it is JSON, else the text; undefined when there was none. */
  readonly body: JsonValue | undefined
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export interface Sent {
  /** The user of the token; anonymous if not given. */
  readonly as?: string
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestQuoin {
  readonly quoin: Quoin
  /** Its data; removed at the end. */
  readonly directory: string
  /** Of its own PostgreSQL, where it is on one. */
  readonly databaseUrl: string | undefined
  /** Sends a request to a path under /api/v1. */
  send(method: Method, path: string, sent?: Sent): Promise<Answer>
  /** The same as the administrator, for management; throws unless it is answered with 2xx. */
  manage(method: Method, path: string, body?: JsonValue): Promise<JsonValue>
  /** Makes a user with these scopes, to be named in `as`. Gives the guid. */
  addUser(username: string, scopes: readonly string[]): Promise<string>
  tokenOf(username: string): Promise<string>
  /** Makes a blueprint from the file format and activates it. Gives its guid. */
  install(name: string, blocks: JsonObject): Promise<string>
  /** All documents of a storage, the oldest first; none if there is no such storage. */
  documents(storage: string): Promise<JsonObject[]>
  /** The system log, the oldest entry first. */
  systemLog(): Promise<JsonObject[]>
  /** Lets time pass, for everything that asks what time it is. Milliseconds. Users sign in again: a token may be too old. */
  advance(milliseconds: number): void
  /** What time it is for everything that asks. */
  now(): number
  close(): Promise<void>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'

/** Everything but the port and the wait for the disk. `settings` are environment variables. */
export async function openTestQuoin(settings: Readonly<Record<string, string>> = {}): Promise<TestQuoin> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  if (!temporary) await copyQuoinFile(directory)
  let ahead = 0
  const quoin = await openQuoin(
    readOptions({
      QUOIN_DATA: directory,
      QUOIN_PORT: '0',
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_EXAMPLES: '0',
      QUOIN_LOG_LEVEL: 'silent',
      // As in production.
      QUOIN_CONFIRM_SECONDS: '300',
      ...(temporary && { DATABASE_URL: temporary.url }),
      ...settings,
    }),
    {
      clock: () => Date.now() + ahead,
      random: (bytes) => void crypto.getRandomValues(bytes),
      synchronous: 'OFF',
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    },
  )
  const tokens = new Map<string, { readonly since: number; readonly token: Promise<string> }>()

  function tokenOf(username: string): Promise<string> {
    const known = tokens.get(username)
    // On a busy machine a suite takes longer than a sign-in counts as new.
    if (known && Date.now() - known.since < 200_000) return known.token
    const password = username === 'admin' ? adminPassword : userPassword
    const signedIn = quoin.access.signIn({ username, password, ip: '127.0.0.1' })
    const token = signedIn.then(({ access_token }) => access_token)
    tokens.set(username, { since: Date.now(), token })
    return token
  }

  async function send(method: Method, path: string, sent: Sent = {}): Promise<Answer> {
    const authorization = sent.as === undefined ? {} : { authorization: `Bearer ${await tokenOf(sent.as)}` }
    const type = sent.body === undefined ? {} : { 'content-type': 'application/json' }
    const reply = await quoin.server.app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { ...authorization, ...type, ...sent.headers },
      ...(sent.body !== undefined && { payload: JSON.stringify(sent.body) }),
    })
    const isText = String(reply.headers['content-type']).startsWith('text/')
    return {
      status: reply.statusCode,
      body: reply.body === '' ? undefined : isText ? reply.body : JSON.parse(reply.body),
      text: reply.body,
      headers: reply.headers,
    }
  }

  async function manage(method: Method, path: string, body?: JsonValue): Promise<JsonValue> {
    const answer = await send(method, path, { as: 'admin', ...(body !== undefined && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body ?? null
  }

  async function documents(storage: string): Promise<JsonObject[]> {
    if (!quoin.database.has(storage)) return []
    const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
    const all = search({ query: matchAll, sort, limit: 10_000 })
    return objectsOf((await quoin.database.session().find(storage, all)).documents.value)
  }

  return {
    quoin,
    directory,
    databaseUrl: temporary?.url,
    send,
    manage,
    tokenOf,
    documents,
    async addUser(username, scopes) {
      const body = { username, password: userPassword, custom_scopes: scopes }
      return guidOf(await manage('POST', '/users', body))
    },
    install: (name, blocks) =>
      installBlueprint(quoin.flows, { name, blocks }, { guid: '', username: 'builder' }),
    async systemLog() {
      await quoin.flows.log.flush()
      return documents(systemStorages.systemLogs)
    },
    advance(milliseconds) {
      ahead += milliseconds
      tokens.clear()
    },
    now: () => Date.now() + ahead,
    async close() {
      await quoin.close()
      await temporary?.drop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new TypeError(`No object: ${JSON.stringify(value)}`)
  return value
}

export function guidOf(value: JsonValue | undefined): string {
  const { guid } = objectOf(objectOf(value)._meta)
  if (typeof guid !== 'string') throw new TypeError(`No guid: ${JSON.stringify(value)}`)
  return guid
}

export interface RunningProcess {
  /** `http://127.0.0.1:<port>` */
  readonly address: string
  readonly pid: number
  /** What it has printed, and is still printing. */
  output(): string
  /** What of that went to its standard output. */
  standardOutput(): string
  /** Ends it and gives its exit code, or the signal that killed it. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | string>
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * `quoin start` on a free port, ready to answer. As users start it: the bundle of exactly these sources, which `npm test`
 * builds first, or the sources themselves, which take twice the processor time (1.7 s instead of 0.9).
 */
export async function startProcess(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  const { PATH, NODE_OPTIONS, TURN_GUARD } = process.env
  const child = spawn(process.execPath, ['bin/quoin.mjs', 'start'], {
    cwd: root,
    env: {
      PATH,
      // Of `npm run torture`, which looks at the event loop of each server.
      ...(TURN_GUARD && NODE_OPTIONS && { NODE_OPTIONS, TURN_GUARD }),
      QUOIN_DATA: directory,
      QUOIN_PORT: '0',
      QUOIN_LOG_LEVEL: 'warn',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let output = ''
  let standardOutput = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    standardOutput += chunk
  })
  const address = await new Promise<string>((resolve, reject) => {
    const read = (chunk: string) => {
      output += chunk
      const found = /^ {4}curl (http:\/\/\S+)\/api\/v1\//m.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    ended.then(() => reject(new Error(`Quoin ended before it was ready:\n${output}`)), reject)
  })
  return {
    address,
    pid: child.pid ?? 0,
    output: () => output,
    standardOutput: () => standardOutput,
    end: (signal) => end(child, signal, ended),
  }
}

async function end(
  child: ChildProcess,
  signal: NodeJS.Signals,
  ended: Promise<unknown>,
): Promise<number | string> {
  child.kill(signal)
  await ended
  return child.exitCode ?? child.signalCode ?? 'unknown'
}
