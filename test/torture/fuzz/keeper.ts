/** The fuzzer's opponent: an administrator whose address and guid the fuzzer does not have. */
import { Agent } from 'undici'
import type { ApiDocument } from '../../../src/http/docs/open-api-document.ts'
import type { JsonValue } from '../../../src/shared/json.ts'
import { adminPassword } from '../../end-to-end/harness.ts'
import { textAt } from '../../json-at.ts'

export interface KeeperReply {
  readonly status: number
  readonly body: JsonValue | undefined
  readonly text: string
}

export interface Keeper {
  readonly address: () => string
  readonly token: string
  readonly guid: string
  ask(method: Method, path: string, body?: JsonValue, token?: string): Promise<KeeperReply>
  /** The same at the host of a space. */
  askAt(host: string, method: Method, path: string, body?: JsonValue, token?: string): Promise<KeeperReply>
  /** Throws unless it is answered with 2xx. */
  manage(method: Method, path: string, body?: JsonValue): Promise<JsonValue>
  importLines(storage: string, lines: readonly string[]): Promise<void>
  signIn(username: string, password: string): Promise<string>
  isAlive(token: string): Promise<boolean>
  document(): Promise<ApiDocument>
  close(): Promise<void>
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** An import of 20,000 documents took over a minute where the machine was busy with other work. */
const PATIENCE_MS = 300_000

export async function openKeeper(address: () => string): Promise<Keeper> {
  // Another address of this machine: wrong passwords of the fuzzer lock its own.
  const connect = process.platform === 'linux' ? { connect: { localAddress: '127.0.0.2' } } : {}
  const agent = new Agent({ headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS, ...connect })

  async function send(
    method: Method,
    path: string,
    sent: string | undefined,
    type: string,
    token?: string,
    host?: string,
  ) {
    const reply = await agent.request({
      origin: address(),
      path: `/api/v1${path}`,
      method,
      headers: {
        ...(host !== undefined && { host }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(sent !== undefined && { 'content-type': type }),
      },
      body: sent ?? null,
    })
    const text = await reply.body.text()
    const isJson = String(reply.headers['content-type']).startsWith('application/json')
    const body: JsonValue | undefined = isJson && text !== '' ? JSON.parse(text) : undefined
    return { status: reply.statusCode, body, text }
  }

  const signIn = async (username: string, password: string) => {
    const sent = JSON.stringify({ username, password })
    const reply = await send('POST', '/auth/signin', sent, 'application/json')
    if (reply.status !== 200) throw new Error(`${username} cannot sign in: ${reply.status} ${reply.text}`)
    return textAt(reply.body, 'access_token')
  }
  const token = await signIn('admin', adminPassword)
  const ask: Keeper['ask'] = (method, path, body, as = token) =>
    send(method, path, body === undefined ? undefined : JSON.stringify(body), 'application/json', as)
  const manage: Keeper['manage'] = async (method, path, body) => {
    const reply = await ask(method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.body ?? null
  }
  return {
    address,
    token,
    guid: textAt(await manage('GET', '/users/me'), '_meta', 'guid'),
    ask,
    askAt: (host, method, path, body, as) =>
      send(method, path, body === undefined ? undefined : JSON.stringify(body), 'application/json', as, host),
    manage,
    async importLines(storage, lines) {
      if (lines.length === 0) return
      const path = `/_system/storages/${storage}/documents/import`
      const reply = await send('POST', path, lines.join('\n'), 'application/x-ndjson', token)
      if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`)
    },
    signIn,
    isAlive: async (other) => (await ask('GET', '/users/me', undefined, other)).status === 200,
    async document() {
      const { text } = await ask('GET', '/openapi.json')
      const document: ApiDocument = JSON.parse(text)
      return document
    },
    close: () => agent.destroy(),
  }
}
