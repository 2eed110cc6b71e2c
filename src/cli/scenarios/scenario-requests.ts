/** Requests of a test, as its users or as the administrator. */
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { bodyOf } from '../management.ts'
import { ADMIN_PASSWORD, type ScenarioCluster } from './scenario-cluster.ts'

const USER_PASSWORD = 'a password of a test'

/** Who makes the users of a test: without a sign-in, which is as much work as the rest of it. */
const everyScope = { guid: '', username: 'test', scopes: new Set(['*']), user: {}, tokenGuid: '' }

/** What came of a step. */
export interface Answer {
  readonly status?: number
  readonly headers?: JsonObject
  /** Each `set-cookie` by itself: in `headers` they are one text. */
  readonly cookies?: readonly string[]
  readonly body?: JsonValue
  /** Of a page: where it stands. */
  readonly address?: string
}

/** A body that has its own content type, or JSON. */
export interface FormBody {
  readonly type: string
  readonly payload: Buffer
}

interface Sent {
  /** Anonymous if not given. */
  readonly as?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: JsonValue | undefined
  readonly form?: FormBody | undefined
}

export interface ScenarioRequests {
  send(method: string, url: string, sent: Sent): Promise<Answer>
  /** As the administrator, below /api/v1. Throws unless it is answered with 2xx. */
  manage(method: string, path: string, body?: JsonValue): Promise<JsonValue>
  /** Makes a user that requests can be of. */
  addUser(user: JsonObject & { readonly username: string }): Promise<void>
  /** The clock has moved: a token may be too old. */
  signInAgain(): void
}

export function scenarioRequests({ quoin }: ScenarioCluster): ScenarioRequests {
  const passwords = new Map([['admin', ADMIN_PASSWORD]])
  const tokens = new Map<string, string>()

  async function tokenOf(username: string): Promise<string> {
    const known = tokens.get(username)
    if (known !== undefined) return known
    const password = passwords.get(username)
    if (password === undefined) throw new Error(`The test has no user ${username}. Add it to given.users.`)
    const { access_token } = await quoin.access.signIn({ username, password, ip: '127.0.0.1' })
    tokens.set(username, access_token)
    return access_token
  }

  async function send(method: string, url: string, { as, headers, body, form }: Sent): Promise<Answer> {
    const isText = typeof body === 'string'
    const type = form?.type ?? (body === undefined ? undefined : isText ? 'text/plain' : 'application/json')
    const payload = form?.payload ?? (isText || body === undefined ? body : JSON.stringify(body))
    const reply = await quoin.server.app.inject({
      method: methodOf(method),
      url,
      headers: {
        ...(as !== undefined && { authorization: `Bearer ${await tokenOf(as)}` }),
        ...(type !== undefined && { 'content-type': type }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    })
    const sent = Object.entries(reply.headers).map(([name, value]) => [name, String(value)])
    const cookies = [reply.headers['set-cookie'] ?? []].flat()
    return { status: reply.statusCode, headers: Object.fromEntries(sent), cookies, body: parsed(reply.body) }
  }

  async function manage(method: string, path: string, body?: JsonValue): Promise<JsonValue> {
    const answer = await send(method, `/api/v1${path}`, { as: 'admin', body })
    try {
      return bodyOf(answer.status ?? 0, JSON.stringify(answer.body ?? null))
    } catch (error) {
      throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  return {
    send,
    manage,
    async addUser(user) {
      await quoin.access.createUser({ ...user, password: USER_PASSWORD }, everyScope)
      passwords.set(user.username, USER_PASSWORD)
    },
    signInAgain: () => tokens.clear(),
  }
}

function methodOf(method: string) {
  switch (method) {
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE':
    case 'HEAD':
      return method
    default:
      return 'GET'
  }
}

function parsed(text: string): JsonValue {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
