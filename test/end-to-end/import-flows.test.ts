/** quoin import-from openapi and n8n: what becomes a blueprint that runs, and what is listed. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { type ImportFixture, openImportFixture } from '../import-fixture.ts'

let fixture: ImportFixture
beforeAll(async () => {
  fixture = await openImportFixture()
})
afterAll(() => fixture.close())

const has = (...lines: readonly string[]) => expect.stringContaining(lines.join('\n'))
const blueprints = async () => {
  const found = await fixture.manage('POST', '/blueprints/search', { limit: 100 })
  return (Array.isArray(found) ? found : []).map((one) => String(Object(one).name)).sort()
}

async function imported(
  kind: string,
  name: string,
  content: JsonValue | string,
  ...flags: readonly string[]
) {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return fixture.importFrom(kind, join(await fixture.files({ [name]: text }), name), ...flags)
}
/** Imports, activates, and gives the lines that were printed before the guid. */
async function activated(kind: string, name: string, content: JsonValue | string, complained: unknown = '') {
  const end = await imported(kind, name, content, '--yes')
  expect([end.code, end.complained]).toEqual([0, complained])
  const lines = end.printed.split('\n')
  const guid = lines.pop() ?? ''
  await fixture.manage('PUT', `/blueprints/update/set/active/${guid}`)
  return { lines, guid }
}

const circle = {
  openapi: '3.1.0',
  paths: {
    '/a': { get: { parameters: [{ name: 'q', in: 'query', schema: { $ref: '#/components/schemas/A' } }] } },
  },
  components: {
    schemas: {
      A: { allOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }] },
      B: { $ref: '#/components/schemas/C' },
      C: { $ref: '#/components/schemas/B' },
    },
  },
}

test.each<[string, string, string, JsonValue | string, string[], number, string]>([
  ['no file', 'openapi', '', '', [], 1, 'cannot be read'],
  [
    'another document',
    'openapi',
    'a.json',
    { openapi: '2.0' },
    [],
    1,
    'is no OpenAPI document of version 3.',
  ],
  ['no operations', 'openapi', 'a.json', { openapi: '3.0.0', paths: {} }, [], 1, 'has no operations.'],
  ['YAML that is none', 'openapi', 'a.yaml', 'openapi: [', [], 1, 'a.yaml is not YAML'],
  [
    'flags of tables',
    'openapi',
    'a.json',
    circle,
    ['--dates', 'dmy'],
    2,
    'import-from openapi does not take --dates',
  ],
  ['no workflow', 'n8n', 'a.json', { nodes: [] }, [], 1, 'is no workflow of n8n.'],
  [
    'a workflow without blocks',
    'n8n',
    'a.json',
    { nodes: [{ name: 'A', type: 'n8n-nodes-base.code' }], connections: {} },
    [],
    1,
    'has no nodes that have a block here.',
  ],
  [
    'too many nodes',
    'n8n',
    'a.json',
    { nodes: Array.from({ length: 501 }, () => ({})), connections: {} },
    [],
    1,
    'has more than 500 nodes.',
  ],
])('%s is refused, and nothing is made', async (_what, kind, name, content, flags, code, line) => {
  const end =
    name === ''
      ? await fixture.importFrom(kind, await fixture.files({}))
      : await imported(kind, name, content, '--yes', ...flags)
  expect(end.code).toBe(code)
  if (name !== '') expect(end.complained).toEqual(has(line))
  expect(await blueprints()).toEqual([])
})

test('references in circles end', async () => {
  const end = await imported('openapi', 'a.json', circle)
  expect([end.code, end.complained]).toEqual([0, ''])
  expect(end.printed).toEqual(has('A blueprint with 1 trigger:', '  GET /a as a'))
})

const pets = `openapi: 3.0.3
info: { title: "Pets", description: "Of a shop." }
paths:
  /pets/{pet-id}:
    parameters:
      - { name: pet-id, in: path, required: true, schema: { type: string } }
      - $ref: '#/components/parameters/Trace'
    get:
      operationId: getPet
      summary: One pet
      responses:
        '200': { content: { application/json: { example: { name: "=Rex", tags: [1] } } } }
    head: { responses: {} }
  /pets:
    post:
      requestBody:
        content:
          application/json:
            schema: { $ref: '#/components/schemas/NewPet' }
      responses: { '201': { description: Made } }
  /users/{id}/files/{name}.txt: { get: { responses: {} } }
  /users: { get: { parameters: [{ name: tag, in: query, schema: { type: array, items: { type: string } } }], responses: {} } }
components:
  parameters:
    Trace: { name: X-Trace, in: header, schema: { type: string } }
  securitySchemes: { key: { type: apiKey } }
  schemas:
    Base: { type: object, required: [name], properties: { name: { type: string, maxLength: 5 }, id: { type: integer, readOnly: true } } }
    NewPet:
      allOf:
        - $ref: '#/components/schemas/Base'
        - properties: { age: { type: integer, minimum: 0 }, kind: { type: string, enum: [cat, dog] }, born: { type: string, format: date }, home: { type: object, properties: { street: { type: string } } }, "a b": { type: string } }
`

test('an OpenAPI document becomes endpoints that check their requests and reply examples', async () => {
  const { lines } = await activated(
    'openapi',
    'pets.yaml',
    pets,
    has('get_pet_reply.value: value contains the text "=Rex", which is not calculated'),
  )
  expect(lines).toEqual([
    'A blueprint with 3 triggers:',
    '  GET /pets/{pet-id} as pets/{pet_id}',
    '  POST /pets as pets',
    '  GET /users as app/users',
    'What is missing, or cannot be said:',
    '  HEAD /pets/{pet-id} is left out: endpoints have no such method.',
    '  GET /pets/{pet-id}: the header X-Trace is not checked.',
    '  GET /pets/{pet-id}: its flow is missing: it replies its example.',
    '  POST /pets: what is in home is not checked.',
    '  POST /pets: the field a b is not checked: its name cannot be one of a pin.',
    '  POST /pets: its flow is missing: it replies 501.',
    '  GET /users/{id}/files/{name}.txt is left out: a segment of an endpoint is plain text or one parameter.',
    '  GET /users is at app/users: Quoin has users itself.',
    '  GET /users: its flow is missing: it replies 501.',
    '  Its ways to sign in are not taken over: key. Each endpoint asks for a signed-in user.',
    '  Schemas of replies are not taken over: Quoin describes what the flows reply.',
  ])
  const ask = async (method: 'GET' | 'POST', path: string, body?: JsonValue) => {
    const answer = await fixture.send(method, path, { as: 'admin', ...(body !== undefined && { body }) })
    return [answer.status, answer.body]
  }
  // As unknown ones: it asks for a signed-in user.
  expect((await fixture.send('GET', '/pets/1')).status).toBe(404)
  expect(await ask('GET', '/pets/1')).toEqual([200, { name: '=Rex', tags: [1] }])
  const wrong = await ask('POST', '/pets', { name: 'too long', age: -1, kind: 'cow', born: 'then' })
  expect([wrong[0], Object.keys(Object(Object(wrong[1]).fields)).sort()]).toEqual([
    400,
    ['age', 'born', 'kind', 'name'],
  ])
  expect((await ask('POST', '/pets', { name: 'Rex', age: 1, kind: 'dog' }))[0]).toBe(501)
  expect((await ask('GET', '/app/users?tag=a&tag=b'))[0]).toBe(501)
})

const node = (
  name: string,
  type: string,
  parameters: JsonValue = {},
  more: Record<string, JsonValue> = {},
) => ({
  ...{ id: name, name, type: `n8n-nodes-base.${type}`, typeVersion: 2, position: [0, 0], parameters },
  ...more,
})
const leads = (...ends: readonly string[]) => ends.map((end) => [{ node: end, type: 'main', index: 0 }])

test('a workflow of n8n becomes blocks that run, and the rest is listed', async () => {
  const workflow = {
    name: 'Orders',
    nodes: [
      node('Hook', 'webhook', { httpMethod: 'POST', path: 'orders', responseMode: 'responseNode' }),
      node('Code', 'code', { jsCode: 'return items' }),
      node('Set fields', 'set', {
        assignments: {
          assignments: [
            { name: 'total', value: '={{ $json.body.total }}', type: 'number' },
            { name: 'text', value: '=For {{ $json.body.name }}: `$5`', type: 'string' },
            { name: 'hard', value: '={{ $json.body.items.map(i => i.x) }}', type: 'string' },
          ],
        },
      }),
      node('Large?', 'if', {
        conditions: {
          combinator: 'and',
          conditions: [
            {
              leftValue: '={{ $json.total }}',
              rightValue: 100,
              operator: { type: 'number', operation: 'gt' },
            },
            {
              leftValue: "={{ $('Hook').item.json.body.name }}",
              rightValue: '',
              operator: { type: 'string', operation: 'notEmpty' },
            },
          ],
        },
      }),
      node('Yes', 'respondToWebhook', { respondWith: 'json', responseBody: '{ "large": true }' }),
      node('No', 'respondToWebhook', { respondWith: 'firstIncomingItem', options: { responseCode: 202 } }),
      node('Mail', 'emailSend', {}, { credentials: { smtp: { id: '1', name: 'x' } } }),
      node('Daily', 'scheduleTrigger', {
        rule: { interval: [{ field: 'days', triggerAtHour: 7, triggerAtMinute: 30 }] },
      }),
      node('Ask', 'httpRequest', {
        url: 'https://example.com/x',
        sendQuery: true,
        queryParameters: { parameters: [{ name: 'at', value: '={{ $json.timestamp }}' }] },
      }),
      node('Off', 'noOp', {}, { disabled: true }),
    ],
    connections: {
      Hook: { main: leads('Code') },
      Code: { main: leads('Set fields') },
      'Set fields': { main: leads('Large?') },
      'Large?': { main: leads('Yes', 'No') },
      Yes: { main: leads('Mail') },
      Daily: { main: leads('Ask') },
    },
  }
  const { lines, guid } = await activated('n8n', 'orders.json', workflow)
  expect(lines).toEqual([
    'A blueprint with 2 triggers:',
    '  Hook (webhook)',
    '  Daily (scheduleTrigger)',
    'What is missing, or cannot be said:',
    '  Hook is at /api/v1/orders and asks for a signed-in user: give it the scope *public, and check who calls.',
    '  Code (code) is left out: there is no block for it, and the flow continues behind it.',
    '  Set fields has the expression "={{ $json.body.items.map(i => i.x) }}" as hard, which is left out.',
    '  Mail has credentials, which are not taken over: make a connection or a secret.',
    '  Mail (emailSend) is left out: there is no block for it, and the flow continues behind it.',
    '  Off is left out: it is switched off.',
  ])
  const post = async (body: JsonValue) => {
    const { status, body: reply } = await fixture.send('POST', '/orders', { as: 'admin', body })
    return [status, reply]
  }
  expect(await post({ total: 101, name: 'Ann' })).toEqual([200, { large: true }])
  expect(await post({ total: 101, name: '' })).toEqual([202, { total: 101, text: 'For : `$5`' }])
  expect(await post({ total: 7, name: 'Bob' })).toEqual([202, { total: 7, text: 'For Bob: `$5`' }])
  const blocks = await fixture.manage('GET', `/blueprints/${guid}/blocks`)
  const shown = JSON.stringify(blocks)
  expect(shown).toContain('30 7 * * *')
  expect(shown).toContain('daily.planned_at')
})

test('a webhook that replies at once, and a circle of nodes', async () => {
  const workflow = {
    name: 'At once',
    nodes: [
      node('Hook', 'webhook', { path: ':id/ping' }),
      node('Loop', 'noOp'),
      node('Back', 'noOp'),
      node('A', 'wait', { amount: 5, unit: 'minutes' }),
    ],
    connections: {
      Hook: { main: leads('Loop') },
      Loop: { main: leads('Back') },
      Back: { main: [[{ node: 'Loop' }, { node: 'A' }]] },
    },
  }
  await activated('n8n', 'once.json', workflow)
  const answer = await fixture.send('GET', '/7/ping', { as: 'admin' })
  expect([answer.status, answer.body]).toEqual([200, { message: 'Workflow was started' }])
})
