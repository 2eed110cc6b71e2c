import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../src/shared/json.ts'
import { guidOf, openTestQuoin, type Sent, type TestQuoin } from './end-to-end/harness.ts'

let fixture: TestQuoin
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_EXAMPLES: '1' })
})
afterAll(() => fixture.close())

function operations(document: JsonValue): [place: string, operation: JsonObject][] {
  const paths = isJsonObject(document) && isJsonObject(document.paths) ? document.paths : {}
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(isJsonObject(item) ? item : {}).map(([method, operation]): [string, JsonObject] => [
      `${method.toUpperCase()} ${path}`,
      isJsonObject(operation) ? operation : {},
    ]),
  )
}

test('every operation of the whole program is described', async () => {
  const all = operations(await fixture.manage('GET', '/openapi.json'))
  expect(all.length).toBeGreaterThan(25)
  const bare = all.filter(([, operation]) => {
    const responses = isJsonObject(operation.responses) ? operation.responses : {}
    const good = Object.entries(responses).find(([status]) => /^2|default/.test(status))?.[1]
    const content = isJsonObject(good) && good.content
    return !operation.summary || !operation.operationId || !Array.isArray(operation.tags) || !content
  })
  expect(bare.map(([place]) => place)).toEqual([])
  const ids = all.map(([, operation]) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

/** What a linter of OpenAPI documents finds, as `rule: message`. */
async function lint(document: JsonValue): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({
    source: JSON.stringify(document),
    config,
    absoluteRef: 'openapi.json',
  })
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

test('the whole document passes the linter that clients are generated after', async () => {
  await fixture.install('Alike', {
    dash: { type: 'on_startup_register_uri_get', in: { uri: 'a-b' } },
    slash: { type: 'on_startup_register_uri_get', in: { uri: 'a/b' } },
    rest: { type: 'on_startup_register_uri_get', in: { uri: 'rest/{path...}' } },
  })
  const document = await fixture.manage('GET', '/openapi.json')
  // The contract's own paths: /blueprints/deploy/{guid} beside /blueprints/{guid}/versions.
  const requested = (problem: string) => !problem.startsWith('no-ambiguous-paths: ')
  expect((await lint(document)).filter(requested)).toEqual([])
  const broken = JSON.parse(
    JSON.stringify(document).replaceAll('"{path}"', '"{other}"').replaceAll('/rest/{path}', '/rest/{*}'),
  )
  expect((await lint(broken)).filter(requested)).not.toEqual([])
})

test.each<[string, 'GET' | 'PUT' | 'DELETE', string, number, Sent]>([
  ['a number that does not fit', 'GET', '/blueprints/{guid}/versions/0', 400, {}],
  ['an old update_hash', 'PUT', '/blueprints/{guid}', 409, { body: { name: 'x', update_hash: 'old' } }],
  ['a blueprint that is active', 'DELETE', '/blueprints/{guid}', 409, {}],
  ['two tokens to a public endpoint', 'GET', '/tasks', 401, { headers: { 'x-token': 'a' } }],
])('what is answered to %s is in it', async (_, method, path, status, sent) => {
  const [blueprint] = [
    await fixture.manage('POST', '/blueprints/search', { filters: { name: 'Tasks' } }),
  ].flat()
  const answer = await fixture.send(method, path.replace('{guid}', guidOf(blueprint)), {
    as: 'admin',
    ...sent,
  })
  expect(answer.status).toBe(status)
  const described = `${method} /api/v1${path.replace('/0', '/{number}')}`
  const all = new Map(operations(await fixture.manage('GET', '/openapi.json')))
  expect(all.get(described)?.responses).toHaveProperty(String(status))
})

test('custom endpoints are in it for those who may enter them, and gone when they are inactive', async () => {
  const places = async (as?: string) => {
    const { body } = await fixture.send('GET', '/openapi.json', as === undefined ? {} : { as })
    return operations(body ?? null)
      .map(([place]) => place)
      .filter((place) => place.includes('/api/v1/tasks'))
  }
  const reading = ['GET /api/v1/tasks', 'GET /api/v1/tasks/{guid}']
  await fixture.addUser('writer', [])
  expect(await places()).toEqual(reading)
  expect((await places('writer')).sort()).toEqual([
    'DELETE /api/v1/tasks/{guid}',
    ...reading,
    'POST /api/v1/tasks',
    'PUT /api/v1/tasks/{guid}',
  ])
  const [blueprint] = [
    await fixture.manage('POST', '/blueprints/search', { filters: { name: 'Tasks' } }),
  ].flat()
  const meta = isJsonObject(blueprint) && isJsonObject(blueprint._meta) ? blueprint._meta : {}
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${meta.guid}`)
  expect(await places('writer')).toEqual([])
})
