/** Every management endpoint as an anonymous caller, as a user without scopes, with each scope alone, and as administrator. */
import type { RouteOptions } from 'fastify'
import { expect, test } from 'vitest'
import {
  alteringRoutes,
  breakRoute,
  brokenRoutes,
  notFound,
} from '../torture/access-matrix/altered-routes.ts'
import { checkMatrix } from '../torture/access-matrix/check-matrix.ts'
import { matrixCaller } from '../torture/access-matrix/matrix-call.ts'
import { nameOf, promisedAccess } from '../torture/access-matrix/promised-access.ts'
import { adminPassword, openTestQuoin } from './harness.ts'

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
