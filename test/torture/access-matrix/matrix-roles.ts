/** The callers: anonymous, invalid tokens, users with no scope, one scope, some scopes or all, and service accounts by their keys. */
import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts'
import { managementScopes } from '../../../src/shared/management-scopes.ts'
import type { MatrixCaller, MatrixReply } from './matrix-call.ts'
import type { Access } from './promised-access.ts'

export interface Role {
  readonly name: string
  /** undefined: unknown, whatever it sends. */
  readonly scopes: readonly string[] | undefined
  /** Calls with an API key, which changes no users, groups, keys and sessions. */
  readonly isKey?: true
  /** Whether it is tried on an endpoint with that access. */
  tries(access: Access): boolean
  /** A token; another one each time for what ends it. */
  token(fresh: boolean): Promise<string | undefined>
}

export interface RoleOptions {
  readonly caller: MatrixCaller
  readonly adminPassword: string
  /** Scopes that open something together. */
  readonly needs: readonly (readonly string[])[]
  /**
   * A user for every scope, tried on every endpoint. Otherwise each endpoint is tried with exactly what it needs, and with
   * everything but that: any scope that opens it by mistake is among those, at a tenth of the calls.
   */
  readonly whole: boolean
}

const PASSWORD = 'a password of a user'
const AT_ONCE = 8

export async function openRoles({ caller, adminPassword, needs, whole }: RoleOptions): Promise<Role[]> {
  const { call } = caller
  const run = randomUUID().slice(0, 8)
  const signIn = async (username: string, password: string) =>
    tokenIn(await call('POST', '/api/v1/auth/signin', { body: { username, password } }))
  const admin = await signIn('admin', adminPassword)
  const signedOut = await signIn('admin', adminPassword)
  await call('POST', '/api/v1/auth/signout', { token: signedOut })
  const always = () => true

  let number = 0
  async function user(name: string, scopes: readonly string[], tries: Role['tries'] = always): Promise<Role> {
    number += 1
    const username = `matrix-${run}-${number}`
    const body = { username, password: PASSWORD, custom_scopes: [...scopes] }
    const reply = await call('POST', '/api/v1/users', { token: admin, body })
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`)
    const token = await signIn(username, PASSWORD)
    return { name, scopes, tries, token: async (fresh) => (fresh ? signIn(username, PASSWORD) : token) }
  }

  async function service(name: string, scopes: readonly string[]): Promise<Role> {
    number += 1
    const made = async (path: string, body: JsonObject) => {
      const reply = await call('POST', path, { token: admin, body })
      if (reply.status !== 200 || !isJsonObject(reply.body))
        throw new Error(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    }
    const account = { username: `matrix-${run}-${number}`, is_service: true, custom_scopes: [...scopes] }
    const { _meta } = await made('/api/v1/users', account)
    const guid = isJsonObject(_meta) ? _meta.guid : undefined
    const { key } = await made(`/api/v1/users/${guid}/keys`, { name, scopes: [...scopes] })
    return { name, scopes, isKey: true, tries: always, token: async () => String(key) }
  }

  const sets = new Map(needs.map((scopes) => [scopes.join(), scopes]))
  const users = whole
    ? [
        ...managementScopes.map((scope) => [scope]),
        ...[...sets.values()].filter(({ length }) => length > 1),
      ].map((scopes) => () => user(`a user with ${scopes.join(', ')}`, scopes))
    : [...sets].flatMap(([key, scopes]) => [
        () => user(`a user with ${key}`, scopes, (access) => String(access) === key),
        ...scopes.map((scope) => () => {
          const others = managementScopes.filter((other) => other !== scope)
          return user(`a user with every scope but ${scope}`, others, (access) => String(access) === key)
        }),
      ])
  return [
    { name: 'nobody', scopes: undefined, tries: always, token: async () => undefined },
    { name: 'an unknown token', scopes: undefined, tries: always, token: async () => 'x'.repeat(43) },
    { name: 'a token that was signed out', scopes: undefined, tries: always, token: async () => signedOut },
    await user('a user without scopes', []),
    ...(await someAtOnce(users)),
    await service('a service account without scopes', []),
    await service('a service account with every scope', ['*']),
    {
      name: 'the administrator',
      scopes: ['*'],
      tries: always,
      token: async (fresh) => (fresh ? signIn('admin', adminPassword) : admin),
    },
  ]
}

export function mayCall({ scopes }: Pick<Role, 'scopes'>, access: Access): boolean {
  if (access === 'every caller') return true
  if (scopes === undefined) return false
  if (access === 'signed-in' || scopes.includes('*')) return true
  return access.every((scope) => scopes.includes(scope))
}

/** What the tasks give, in their order. */
export async function someAtOnce<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = []
  const waiting = tasks.entries()
  const work = async () => {
    for (const [place, task] of waiting) results[place] = await task()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}

function tokenIn({ status, body }: MatrixReply): string {
  const token = isJsonObject(body) ? body.access_token : undefined
  if (typeof token !== 'string') throw new Error(`There is no token: ${status} ${JSON.stringify(body)}`)
  return token
}
