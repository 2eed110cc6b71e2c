/** A cluster with spaces that listens, and its spaces as their clients see them: by the name of their host. */
import { request } from 'node:http'
import { inject } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import type { Quoin } from '../../src/quoin/quoin.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import type { NewJob } from '../../src/storage/job.ts'
import {
  type Answer,
  adminPassword,
  guidOf,
  objectsOf,
  openTestQuoin,
  type TestQuoin,
  userPassword,
} from './harness.ts'

/** A job that a flow asks for, and that is not due for a hundred years. */
export const later: NewJob = {
  ...({ queue: 'later', kind: 'function', title: 'Later', payload: {} } as const),
  ...{ runAt: 4e12, requested: true },
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface TestSpace {
  readonly guid: string
  readonly host: string
  /** Opened if it is not. */
  enter(): Promise<Quoin>
  /** Under /api/v1. `token`: of any space. */
  send(method: Method, path: string, sent?: { body?: JsonValue; token?: string }): Promise<Answer>
  signIn(username?: string, password?: string): Promise<string>
  /** As its administrator; throws unless it is answered with 2xx. */
  manage(method: Method, path: string, body?: JsonValue): Promise<JsonValue>
  addUser(username: string, scopes: readonly string[]): Promise<string>
  /** Gives the guid of the blueprint, which is active. */
  install(name: string, blocks: JsonObject): Promise<string>
}

export interface TestCluster {
  readonly operator: TestQuoin
  readonly port: number
  addSpace(name: string): Promise<TestSpace>
  /** One that another node of the cluster has made. */
  space(name: string, guid: string): TestSpace
  /** What is not under /api/v1, or for a host of no space. */
  readonly ask: Asked
  close(): Promise<void>
}

export async function openTestCluster(settings: Record<string, string> = {}): Promise<TestCluster> {
  const operator = await openTestQuoin(settings)
  const port = Number(new URL(await operator.quoin.server.listen()).port)
  const ask = askAt(port)
  const enter = async (name: string) => {
    const { spaces } = operator.quoin
    if (!spaces) throw new Error('There are no spaces.')
    return spaces.enter(name)
  }
  const space = (name: string, guid: string) => testSpace(guid, hostOf(name), ask, () => enter(name))
  return {
    operator,
    port,
    ask,
    async addSpace(name) {
      const body = { name, hosts: [hostOf(name)], password: adminPassword }
      const created = await operator.manage('POST', '/_system/spaces', body)
      const guid = guidOf(
        created !== null && typeof created === 'object' && 'space' in created ? created.space : null,
      )
      return space(name, guid)
    },
    space,
    async close() {
      // Databases of their own, which no run of the tests would find again.
      if (inject('engine') === 'postgres')
        for (const one of objectsOf(await operator.manage('POST', '/_system/spaces/search', {})))
          await operator.manage('DELETE', `/_system/spaces/${guidOf(one)}?confirm=${String(one.name)}`)
      await operator.close()
    },
  }
}

/** Asks the server on a port of this machine. */
export const askAt =
  (port: number): Asked =>
  (host, method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        { port, host: '127.0.0.1', method, path, headers: { host, ...headers } },
        (reply) => {
          let text = ''
          reply.on('error', reject)
          reply.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          reply.on('end', () => {
            const isJson = /^application\/json\b/.test(String(reply.headers['content-type']))
            const parsed: JsonValue | undefined = text === '' ? undefined : isJson ? JSON.parse(text) : text
            resolve({ status: reply.statusCode ?? 0, body: parsed, text, headers: reply.headers })
          })
        },
      )
      sent.on('error', reject)
      const isPlain = typeof body === 'string' && !/json/.test(headers['content-type'] ?? '')
      sent.end(body === undefined || isPlain ? body : JSON.stringify(body))
    })

const hostOf = (name: string) => `${name}.example.test`

export type Asked = (
  host: string,
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: JsonValue,
) => Promise<Answer>

export function testSpace(guid: string, host: string, ask: Asked, enter: () => Promise<Quoin>): TestSpace {
  let own: Promise<string> | undefined
  const send: TestSpace['send'] = (method, path, { body, token } = {}) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    return ask(host, method, `/api/v1${path}`, headers, body)
  }
  const signIn: TestSpace['signIn'] = async (username = 'admin', password = adminPassword) => {
    const { status, body, text } = await send('POST', '/auth/signin', { body: { username, password } })
    if (status !== 200) throw new Error(`${host}: ${status} ${text}`)
    return String(Object(body).access_token)
  }
  const manage: TestSpace['manage'] = async (method, path, body) => {
    const sent = async () => {
      own ??= signIn()
      return send(method, path, { token: await own, ...(body !== undefined && { body }) })
    }
    let answer = await sent()
    // Time has passed since.
    if (Object(answer.body).error === 'CONFIRMATION_REQUIRED') {
      own = signIn()
      answer = await sent()
    }
    if (answer.status >= 300) throw new Error(`${host} ${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body ?? null
  }
  return {
    ...{ guid, host, enter, send, signIn, manage },
    async addUser(username, scopes) {
      const body = { username, password: userPassword, custom_scopes: [...scopes] }
      return guidOf(await manage('POST', '/users', body))
    },
    async install(name, blocks) {
      const by = { guid: '', username: 'builder' }
      return installBlueprint((await enter()).flows, { name, blocks }, by)
    },
  }
}
