/**
 * Each management endpoint of the OpenAPI document, called as each role: 401, 403 or allowed, exactly as docs/access.md says
 * and as the document itself says. Nothing is sent but the path, with guids of nothing: who may not enter learns nothing,
 * and who may finds nothing there.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts'
import type { MatrixCaller, MatrixReply } from './matrix-call.ts'
import { mayCall, openRoles, type Role, someAtOnce } from './matrix-roles.ts'
import { type Access, type Endpoint, nameOf, promisedAccess } from './promised-access.ts'

export interface MatrixResult {
  readonly checked: number
  readonly failures: readonly string[]
  readonly figures: Readonly<Record<string, number>>
  /** The endpoints that were called, as docs/access.md writes them. */
  readonly endpoints: readonly string[]
}

export interface MatrixOptions {
  readonly caller: MatrixCaller
  readonly adminPassword: string
  /** Every scope on every endpoint: see `RoleOptions`. */
  readonly whole: boolean
  /** Calls these alone, as docs/access.md writes them. */
  readonly only?: readonly string[]
  readonly signal?: AbortSignal
}

interface Described extends Endpoint {
  readonly operation: JsonObject
}

/** Called when all other calls are done: it would end the sessions that send them. */
const ENDS_SESSIONS = 'DELETE /users/me/sessions'
/** What a leaked key must not do, as docs/access.md says. */
const FOR_PERSONS = /^(POST|PUT|DELETE) \/(auth|users|_system\/(signin-providers|authentication-groups))\b/
const NOTHING = '0190a6e0-0000-7000-8000-000000000000'

export async function checkMatrix({ signal, only, ...options }: MatrixOptions): Promise<MatrixResult> {
  const { caller } = options
  const promised = promisedAccess()
  const endpoints = managementEndpoints((await caller.call('GET', '/api/v1/openapi.json')).body)
  const failures = promised.listed
    .filter((name) => !endpoints.some((endpoint) => nameOf(endpoint) === name))
    .map((name) => `${name} is in docs/access.md and does not exist`)
  for (const endpoint of endpoints) failures.push(...documentProblems(endpoint, promised.of(endpoint)))
  const needs = endpoints.map(promised.of).filter((access) => typeof access === 'object')
  const roles = await openRoles({ ...options, needs })
  const callsOf = (some: readonly Described[]) =>
    roles.flatMap((role) =>
      some
        .filter((endpoint) => role.tries(promised.of(endpoint)))
        .map((endpoint) => async () => {
          signal?.throwIfAborted()
          const access = promised.of(endpoint)
          const reply = await ask(caller, role, endpoint, access)
          const problem = replyProblem(reply, mayCall(role, access), role, endpoint)
          if (problem !== undefined) failures.push(`${nameOf(endpoint)} as ${role.name}: ${problem}`)
        }),
    )
  const called = endpoints.filter((endpoint) => only?.includes(nameOf(endpoint)) ?? true)
  const last = called.filter((endpoint) => nameOf(endpoint) === ENDS_SESSIONS)
  const [calls, lastCalls] = [callsOf(called.filter((one) => !last.includes(one))), callsOf(last)]
  await someAtOnce(calls)
  await someAtOnce(lastCalls)
  return {
    checked: calls.length + lastCalls.length,
    failures,
    figures: { endpoints: called.length, roles: roles.length },
    endpoints: called.map(nameOf),
  }
}

/** All that no blueprint has registered: their errors have codes. */
function managementEndpoints(document: JsonValue | undefined): Described[] {
  const paths = isJsonObject(document) && isJsonObject(document.paths) ? document.paths : {}
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(isJsonObject(item) ? item : {}).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: isJsonObject(operation) ? operation : {},
    })),
  )
  const ours = all.filter(({ operation }) => JSON.stringify(operation.responses).includes('schemas/Error"'))
  if (ours.length === 0) throw new Error('The OpenAPI document has no management endpoints.')
  return ours
}

/** What the document says about who may call. */
function documentProblems({ operation, ...endpoint }: Described, access: Access): string[] {
  const { description = '', security } = operation
  const said = Array.isArray(security) && security.length > 0 ? scopesIn(String(description)) : 'every caller'
  const expected = access === 'signed-in' ? [] : access
  if (String(said) === String(expected)) return []
  return [`${nameOf(endpoint)}: the OpenAPI document says "${said}", docs/access.md "${expected}"`]
}

function scopesIn(description: string): readonly string[] {
  const needs = /Needs the scopes? ((?:`[a-z_]+`(?: and )?)+)\.$/.exec(description)?.[1] ?? ''
  return [...needs.matchAll(/`([a-z_]+)`/g)].map(([, scope = '']) => scope)
}

async function ask(
  { call }: MatrixCaller,
  role: Role,
  { method, path }: Endpoint,
  access: Access,
): Promise<MatrixReply> {
  // Signing out is open to any signed-in user.
  const token = await role.token(access === 'signed-in')
  return call(method, path.replace(/\{[^}]+\}/g, NOTHING), { token })
}

function replyProblem(
  { status, body }: MatrixReply,
  may: boolean,
  { scopes, isKey }: Role,
  endpoint: Endpoint,
): string | undefined {
  const { error: code, message } = isJsonObject(body) ? body : {}
  const isRefused = status === 403 && /^API keys /.test(String(message))
  const isForPersons = FOR_PERSONS.test(nameOf(endpoint))
  if (isKey && may && isForPersons && (isRefused || endpoint.method === 'DELETE'))
    return isRefused ? undefined : `${status} ${code ?? ''} instead of a refusal of keys`
  if (may)
    return status === 401 || status === 403 || status >= 500 ? `refused with ${status} ${code}` : undefined
  const [expected, name] =
    scopes === undefined ? [401, 'INVALID_ACCESS_TOKEN'] : [403, 'INSUFFICIENT_PERMISSIONS']
  return status === expected && code === name
    ? undefined
    : `${status} ${code ?? ''} instead of ${expected} ${name}`
}
