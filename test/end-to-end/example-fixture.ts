/**
 * One of the examples on the real program, imported as its users do, and another server that it talks to. On PostgreSQL two
 * nodes serve it, and requests go to them in turn.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, inject } from 'vitest'
import { partsOfApplication } from '../../src/applications/check-application.ts'
import { exampleNames, readExample } from '../../src/applications/install-example.ts'
import { partsOfFile } from '../../src/flows/blueprints/blueprint-file.ts'
import { installParts, type PartsApi } from '../../src/shared/application/install-parts.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { installOver } from '../cluster/install-over.ts'
import { startLocalServer } from '../local-server.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import {
  adminPassword,
  objectOf,
  objectsOf,
  type RunningProcess,
  startProcess,
  type TestQuoin,
} from './harness.ts'

export interface ExampleReply {
  readonly status: number
  /** Parsed if it is JSON, else the text. */
  readonly body: JsonValue
}

export interface Sent {
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
  /** Without the administrator's token. */
  readonly anonymous?: boolean
}

export interface ExampleFixture {
  call(method: string, path: string, sent?: Sent): Promise<ExampleReply>
  /** All jobs of a queue, as `state after attempts`. */
  jobs(queue: string): Promise<string[]>
  /** Ends all nodes, and starts them on the same data. */
  restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  close(): Promise<void>
}

/** An example as one file, with all parts and without first documents; of several blueprints one: `crm/deals`. */
export async function exampleFile(name: string): Promise<JsonObject> {
  const [folder = '', blueprint = folder] = name.split('/')
  if (!(await exampleNames()).includes(folder)) {
    const file = new URL(`../../examples/${name}.blueprint.json`, import.meta.url)
    return objectOf(JSON.parse(await readFile(file, 'utf8')))
  }
  const application = await readExample(folder)
  const parts = Object.entries(partsOfApplication(application)).map(([kind, all]) => [kind, [...all]])
  return { ...application.blueprints[blueprint], ...Object.fromEntries(parts) }
}

/** An example in this process, whose clock the test moves. `values`: of its environment. */
export async function installExample(
  quoin: TestQuoin,
  name: string,
  values: JsonObject,
  secrets: JsonObject = {},
): Promise<void> {
  for (const [key, value] of Object.entries(secrets))
    await quoin.manage('POST', '/_system/secrets', { name: key, value })
  for (const [key, value] of Object.entries(values))
    await quoin.manage('POST', '/_system/environment', { name: key, value })
  const file = await exampleFile(name)
  const api: PartsApi = {
    find: async (path, body) => objectsOf(await quoin.manage('POST', path, body)),
    call: (method, path, body) => quoin.manage(method, path, body),
    stays(part) {
      throw new Error(`${part} stays.`)
    },
  }
  await installParts(api, partsOfFile(file), false)
  await quoin.install(name, objectOf(file.blocks))
}

/** All that can be active together: `tasks` and `tasks-resource` have the same addresses. Gives the names. */
export async function installExamples(quoin: TestQuoin): Promise<readonly string[]> {
  const names = ['board', 'booking', 'cities', 'inventory', 'tasks-resource', 'webhooks']
  const { blueprints } = await readExample('crm')
  names.push(...Object.keys(blueprints).map((name) => `crm/${name}`))
  for (const name of names) await installExample(quoin, name, {})
  return names
}

export interface ExampleSettings {
  /** Of its environment. */
  readonly values: JsonObject
  /** Secrets that are set before, by name. */
  readonly secrets?: JsonObject
  /** Environment variables. */
  readonly settings: Readonly<Record<string, string>>
}

export async function openExampleFixture(
  name: string,
  { values, secrets = {}, settings }: ExampleSettings,
): Promise<ExampleFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  const environment = {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_EXAMPLES: '0',
    ...(temporary && { DATABASE_URL: temporary.url }),
    ...settings,
  }
  const nodes: RunningProcess[] = []
  async function start() {
    nodes.push(await startProcess(directory, environment))
    if (temporary) nodes.push(await startProcess(directory, environment))
  }
  async function end(signal: 'SIGTERM' | 'SIGKILL') {
    await Promise.all(nodes.splice(0).map((node) => node.end(signal)))
  }
  async function close() {
    await end('SIGKILL')
    await temporary?.drop()
    await rm(directory, { recursive: true, force: true })
  }
  let token = ''
  let turn = 0
  const address = () => nodes[turn++ % nodes.length]?.address ?? ''

  async function call(method: string, path: string, sent: Sent = {}): Promise<ExampleReply> {
    const reply = await fetch(`${address()}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(sent.anonymous ? {} : { authorization: `Bearer ${token}` }),
        ...(sent.body !== undefined && { 'content-type': 'application/json' }),
        ...sent.headers,
      },
      ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
    })
    const text = await reply.text()
    const isJson = reply.headers.get('content-type')?.startsWith('application/json')
    return { status: reply.status, body: isJson ? JSON.parse(text) : text }
  }

  try {
    await start()
    const credentials = { username: 'admin', password: adminPassword }
    const signedIn = await call('POST', '/auth/signin', { body: credentials, anonymous: true })
    token = String(objectOf(signedIn.body).access_token)
    await setValues(call, { environment: values, secrets })
    const blueprint = await installOver(address(), token, await exampleFile(name))
    const checked = await call('POST', `/blueprints/check/${blueprint}`)
    expect(checked.body).toEqual({ problems: [], notes: [] })
  } catch (error) {
    // No test has the room, so none can close it.
    await close()
    throw error
  }
  return {
    call,
    async jobs(queue) {
      const { body } = await call('POST', '/queue/search', { body: { filters: { queue }, limit: 1_000 } })
      return objectsOf(body).map(({ status, attempts }) => `${status} after ${attempts}`)
    },
    async restart(signal) {
      await end(signal)
      await start()
    },
    close,
  }
}

async function setValues(
  call: ExampleFixture['call'],
  values: Readonly<Record<'environment' | 'secrets', JsonObject>>,
): Promise<void> {
  for (const [kind, all] of Object.entries(values))
    for (const [name, value] of Object.entries(all))
      expect(await call('POST', `/_system/${kind}`, { body: { name, value } })).toMatchObject({ status: 200 })
}

export interface Receiver {
  readonly url: string
  /** For QUOIN_ALLOWED_HOSTS. */
  readonly host: string
  readonly seen: readonly Received[]
  /** What it replies from now on; 200 at first. */
  answer(status: number): void
  close(): Promise<void>
}

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: JsonObject
  readonly status: number
}

/** Another server, which notes the JSON that it gets. */
export async function openReceiver(): Promise<Receiver> {
  const seen: Received[] = []
  let status = 200
  const server = await startLocalServer(async (request, response) => {
    const body: unknown = await json(request)
    seen.push({
      path: request.url ?? '',
      headers: request.headers,
      body: isJsonObject(body) ? body : {},
      status,
    })
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  return {
    url: server.url,
    host: `127.0.0.1:${server.port}`,
    seen,
    answer(next) {
      status = next
    },
    close: () => server.close(),
  }
}

/** Lets time pass when no job is running: it would lose its lease, and be run twice. */
export async function passTime(quoin: TestQuoin, milliseconds: number): Promise<void> {
  await eventually(async () => {
    const jobs = objectsOf(await quoin.manage('POST', '/queue/search', { limit: 1_000 }))
    return jobs.filter(({ status }) => status === 'running').length
  }).toBe(0)
  quoin.advance(milliseconds)
}

/** How many replies there were of each status. */
export function statusesOf(replies: readonly ExampleReply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Waits until it holds; a machine may be slow. */
export function eventually<T>(read: () => Promise<T> | T) {
  return expect.poll(read, { timeout: 60_000, interval: 50 })
}
