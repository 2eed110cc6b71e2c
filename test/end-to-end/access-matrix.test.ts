/** Every management endpoint as an anonymous caller, as a user without scopes, with each scope alone, and as administrator. */
import type { RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Send, tools } from '../../src/agents/tools.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { managementScopes } from '../../src/shared/management-scopes.ts'
import {
  alteringRoutes,
  breakRoute,
  brokenRoutes,
  notFound,
} from '../torture/access-matrix/altered-routes.ts'
import { checkMatrix } from '../torture/access-matrix/check-matrix.ts'
import { matrixCaller } from '../torture/access-matrix/matrix-call.ts'
import { nameOf, promisedAccess } from '../torture/access-matrix/promised-access.ts'
import { adminPassword, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

async function matrixOf(alter: (route: RouteOptions) => void, only?: readonly string[]) {
  const fixture = await alteringRoutes(alter, () =>
    openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_SECRETS_KEY: '0f'.repeat(32) }),
  )
  const address = await fixture.quoin.server.listen()
  const caller = matrixCaller(() => address)
  try {
    return await checkMatrix({ caller, adminPassword, whole: false, ...(only && { only }) })
  } finally {
    await caller.close()
    await fixture.close()
  }
}

/** Routes that the matrix did not call, but for those that are looked at as hidden ones, and the endpoints of blueprints. */
function unasked(routes: readonly RouteOptions[], asked: readonly string[]): string[] {
  return (
    routes
      .filter(({ schema, config }) => schema?.hide !== true && config?.permission !== 'by-trigger')
      .flatMap(({ method, url }) => [method].flat().map((one) => nameOf({ method: one, path: url })))
      // Fastify adds HEAD to each GET, with the permission of that.
      .map((name) =>
        name
          .replace(/^HEAD /, 'GET ')
          .replace(/:(\w+)/g, '{$1}')
          .replace('*', '{path}'),
      )
      .filter((name) => !asked.includes(name))
  )
}

test('every endpoint is open to exactly the callers that docs/access.md names', async () => {
  const routes: RouteOptions[] = []
  const { checked, failures, figures, endpoints } = await matrixOf((route) => void routes.push(route))
  expect(failures).toEqual([])
  expect(figures.endpoints).toBeGreaterThan(100)
  expect(checked).toBeGreaterThan(6 * Number(figures.endpoints))
  expect(unasked(routes, endpoints)).toEqual([])
  expect(unasked(routes, endpoints.slice(1))).toContain(endpoints[0])
  // What the OpenAPI document leaves out is public, or checks its caller itself.
  const hidden = routes.filter(
    ({ schema, config }) => schema?.hide === true && config?.permission !== 'by-trigger',
  )
  expect(hidden.length).toBeGreaterThan(0)
  const byTrigger = routes.filter(({ config }) => config?.permission === 'by-trigger')
  // Monitoring, links of approvals, providers, agents, pages, endpoints: each checks its caller itself, and no management endpoint does.
  expect([...new Set(byTrigger.map(({ url }) => url))].toSorted()).toEqual(
    [
      '/health/live',
      '/health/ready',
      '/metrics',
      '/_approvals/:guid',
      '/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/_oauth/authorize',
      '/_oauth/revoke',
      '/_oauth/token',
      '/_signin',
      '/_signin/:name',
      '/_signin/:name/callback',
      '/_signin/:name/logout',
      '/scim/v2/ServiceProviderConfig',
      ...['Users', 'Groups', 'Schemas', 'ResourceTypes'].flatMap((name) => [
        `/scim/v2/${name}`,
        `/scim/v2/${name}/:id`,
      ]),
      '/scim/v2/*',
      '/*',
      '/api/v1/*',
    ].toSorted(),
  )
  for (const { method, config } of hidden)
    expect({ method, permission: config?.permission }).toEqual({
      method: expect.stringMatching(/^(GET|HEAD)$/),
      permission: 'public',
    })
})

test('control: routes that are open to others are found', async () => {
  expect(notFound((await matrixOf(breakRoute, Object.keys(brokenRoutes))).failures)).toEqual([])
})

test.each([
  ['an unknown word', '| `GET /info` | some callers |', 'neither scopes nor "every caller"'],
  ['no table', 'text', 'has no table'],
])('control: %s in docs/access.md is refused', (_, text, words) => {
  expect(() => promisedAccess(text).of({ method: 'GET', path: '/api/v1/info' })).toThrow(words)
})

// Doors that the OpenAPI document leaves out, and what is behind `/mcp`.

const nothing = '0190a6e0-0000-7000-8000-000000000000'

/** A call of each tool for each kind of request that it sends; of what is not there, so that nothing is changed. */
const toolCalls: Readonly<Record<string, readonly JsonObject[]>> = {
  search: [
    ...['applications', 'drafts', 'runs', 'blocks', 'blueprints', 'storages', 'fields', 'operations', 'logs'],
  ].map((source) => ({ in: source })),
  read: ['application', 'draft', 'block', 'blueprint', 'operation', 'run'].map((kind) => ({
    kind,
    name: nothing,
  })),
  edit: [{ application: 'matrix', changes: [{ path: 'quoin.json', old: 'a', new: 'b' }] }],
  check: [{ draft: nothing }],
  test: [{ draft: nothing }],
  try: [
    { draft: nothing, steps: [{ request: 'GET /a' }] },
    { blueprint: nothing, trigger: 'GET a' },
  ],
  explain: [{ method: 'GET', path: 'nowhere' }, { run: nothing }],
  documents: [{ storage: 'matrix' }],
  plan: [{ draft: nothing }],
  deploy: [{ draft: nothing, state: 'a' }],
  discard: [{ draft: nothing }],
}

describe('the doors of agents', () => {
  let quoin: TestQuoin
  beforeAll(async () => {
    quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: 'https://quoin.example.org' })
    await quoin.manage('POST', '/_system/storages', { name: 'matrix' })
  })
  afterAll(() => quoin?.close())

  let made = 0
  async function keyWith(scopes: readonly string[], endpoints?: readonly string[]): Promise<string> {
    made += 1
    const asked = {
      name: `matrix ${made}`,
      scopes: [...scopes],
      ...(endpoints && { endpoints: [...endpoints] }),
    }
    return String(objectOf(await quoin.manage('POST', '/users/me/keys', asked)).key)
  }

  const mcp = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const message = (method: string, params: JsonObject = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  async function toolText(key: string, name: string, args: JsonObject): Promise<string> {
    const headers = { ...mcp, authorization: `Bearer ${key}` }
    const payload = message('tools/call', { name, arguments: args })
    return (await quoin.quoin.server.app.inject({ method: 'POST', url: '/mcp', headers, payload })).body
  }

  test('/mcp is open to keys that list it, or that have no list, and to no session', async () => {
    const token = await quoin.tokenOf('admin')
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
    const callers: readonly (readonly [string, Record<string, string>, number])[] = [
      ['nobody', {}, 401],
      ['an unknown key', bearer('quoin_0000'), 401],
      ['the session of an administrator', bearer(token), 401],
      [
        'the cookie of an administrator',
        { cookie: `access_token=${token}`, 'sec-fetch-site': 'same-origin' },
        401,
      ],
      ['a key of every scope with another list', bearer(await keyWith(['*'], ['GET /api/v1/tasks'])), 403],
      ['a key without scopes', bearer(await keyWith([])), 200],
      ['a key that lists it', bearer(await keyWith(['*'], ['/mcp'])), 200],
    ]
    for (const [who, headers, status] of callers)
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const payload = method === 'POST' && { payload: message('tools/list') }
        const sent = { ...(payload ? mcp : { accept: mcp.accept }), ...headers }
        const reply = await quoin.quoin.server.app.inject({ method, url: '/mcp', headers: sent, ...payload })
        // There are no streams and no sessions.
        expect([who, method, reply.statusCode]).toEqual([
          who,
          method,
          status === 200 && !payload ? 405 : status,
        ])
      }
  })

  test.each([
    ['GET', '/_oauth/authorize', [303, 400, 403]],
    ['POST', '/_oauth/authorize', [303, 400, 403]],
    ['POST', '/_oauth/token', [400, 400, 400]],
    ['POST', '/_oauth/revoke', [200, 200, 200]],
    // Of sign-in: a browser that did not begin one, a provider that is not there, a program without a port.
    ['GET', '/_signin', [404, 404, 404]],
    ['GET', '/_signin/nothing', [404, 404, 404]],
    ['GET', '/_signin/nothing/callback?code=a&state=b', [404, 404, 404]],
    ['POST', '/_signin/nothing/logout', [404, 404, 404]],
    // Of SCIM: keys alone, and no session of whom it may be.
    ['GET', '/scim/v2/ServiceProviderConfig', [401, 401, 200]],
    ['GET', '/scim/v2/Users', [401, 401, 200]],
    ['GET', '/scim/v2/Groups', [401, 401, 200]],
    ['GET', `/scim/v2/Users/${nothing}`, [401, 401, 404]],
    ['GET', '/.well-known/oauth-authorization-server', [200, 200, 200]],
    ['GET', '/.well-known/oauth-protected-resource', [200, 200, 200]],
    ['GET', '/.well-known/oauth-protected-resource/mcp', [200, 200, 200]],
  ] as const)(
    '%s %s does nothing with these parameters alone: no caller, an administrator, a key',
    async (method, url, expected) => {
      const token = await quoin.tokenOf('admin')
      const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
      const statuses: number[] = []
      for (const headers of [
        {},
        { cookie: `access_token=${token}` },
        { authorization: `Bearer ${await keyWith(['*'])}` },
      ]) {
        const sent = method === 'POST' ? { ...form, ...headers } : headers
        const payload = method === 'POST' && { payload: '' }
        statuses.push(
          (await quoin.quoin.server.app.inject({ method, url, headers: sent, ...payload })).statusCode,
        )
      }
      expect(statuses).toEqual(expected)
    },
  )

  test('each tool is open to exactly the keys with the scopes of the endpoints that it asks', async () => {
    expect(Object.keys(toolCalls).toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
    const promised = promisedAccess()
    const calls: { name: string; args: JsonObject; needs: Set<string> }[] = []
    for (const tool of tools)
      for (const args of toolCalls[tool.name] ?? []) {
        // An API key needs it besides what the endpoint asks of a user.
        const needs = new Set(tool.name === 'deploy' ? ['agents_deploy'] : [])
        const send: Send = async (method, path) => {
          const asked = path.replaceAll(nothing, '{guid}').replace(/\?.*/, '')
          const named = ['applications', 'blocks'].reduce(
            (one, folder) =>
              one.replace(`/${folder}/{guid}`, `/${folder}/{${folder === 'blocks' ? 'identifier' : 'name'}}`),
            asked,
          )
          const access = promised.of({ method, path: `/api/v1${named}` })
          for (const scope of typeof access === 'string' ? [] : access) needs.add(scope)
          const found: JsonValue = path === '/_system/storages/search' ? [{ _meta: { guid: nothing } }] : {}
          return { status: Array.isArray(found) ? 200 : 404, body: found }
        }
        await tool.run(args, send)
        calls.push({ name: tool.name, args, needs })
      }
    const scopes = [...new Set(calls.flatMap(({ needs }) => [...needs]))].toSorted()
    expect(scopes.filter((scope) => !managementScopes.includes(scope))).toEqual([])
    const all = await keyWith(scopes)
    const isRefused = (text: string) => /Refused with 403/.test(text)
    for (const { name, args, needs } of calls) {
      expect([name, args, needs.size > 0]).toEqual([name, args, true])
      expect([name, args, isRefused(await toolText(all, name, args))]).toEqual([name, args, false])
    }
    for (const scope of scopes) {
      const without = await keyWith(scopes.filter((one) => one !== scope))
      const refused: string[] = []
      for (const { name, args } of calls)
        if (isRefused(await toolText(without, name, args))) refused.push(`${name} ${JSON.stringify(args)}`)
      const expected = calls.filter(({ needs }) => needs.has(scope))
      expect([scope, refused]).toEqual([
        scope,
        expected.map(({ name, args }) => `${name} ${JSON.stringify(args)}`),
      ])
    }
  })
})
