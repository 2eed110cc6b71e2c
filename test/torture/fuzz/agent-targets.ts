/** Doors of agents, which the OpenAPI document does not describe: `/mcp`, and the pages and tokens of OAuth. */
import { type Tool, tools } from '../../../src/agents/tools.ts'
import type { ApiOperation, ApiParameter, ApiSchema } from '../../../src/http/docs/open-api-document.ts'
import type { Target } from './make-request.ts'

const anyObject: ApiSchema = { type: 'object' }

/** The methods of `/mcp` with what they take; the last one is of no server. */
const methods: Readonly<Record<string, ApiSchema>> = {
  initialize: objectOf({
    protocolVersion: { enum: ['2025-06-18', '2026-07-28', '1999-01-01'] },
    capabilities: { const: {} },
    clientInfo: objectOf({ name: { type: 'string' }, version: { type: 'string' } }),
  }),
  'tools/list': { type: 'object', properties: { cursor: { type: 'string' } } },
  'tools/call': objectOf({ name: { type: 'string' }, arguments: anyObject }),
  'resources/list': {},
  'resources/read': objectOf({
    uri: { enum: ['quoin://llms.txt', 'quoin://docs/agents.md', 'file:///etc'] },
  }),
  'subscriptions/listen': anyObject,
  'sampling/nothing': anyObject,
}

export const agentTargets: readonly Target[] = [
  ...Object.entries(methods).map(([method, params]) => message(method, params)),
  ...tools.map((tool) =>
    message('tools/call', objectOf({ name: { const: tool.name }, arguments: inputOf(tool) })),
  ),
  mcpTarget('GET', {}),
  mcpTarget('DELETE', {}),
  ...['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server'].map((name) =>
    target('GET', `/.well-known/${name}`, 'OAuth', [200, 404]),
  ),
  target('GET', '/_oauth/authorize', 'page', [200, 303, 400], { parameters: authorization() }),
  target('POST', '/_oauth/authorize', 'page', [200, 303, 400, 403], {
    ...{ parameters: authorization() },
    ...form({ action: { enum: ['allow ', 'deny ', ''] }, token: { type: 'string' } }),
  }),
  target('POST', '/_oauth/token', 'OAuth', [200, 400], form(tokenFields())),
  target('POST', '/_oauth/revoke', 'OAuth', [200, 400], form(tokenFields())),
]

function objectOf(properties: Readonly<Record<string, ApiSchema>>): ApiSchema {
  return { type: 'object', properties, required: Object.keys(properties) }
}

function message(method: string, params: ApiSchema): Target {
  const schema = objectOf({
    jsonrpc: { const: '2.0' },
    id: { type: 'integer' },
    method: { const: method },
    params,
  })
  return mcpTarget('POST', { requestBody: { content: { 'application/json': { schema } } } })
}

function mcpTarget(method: string, more: Partial<ApiOperation>): Target {
  const statuses = [200, 202, 400, 401, 403, 404, 405, 406, 413, 415, 429, 503, 508]
  const headers = { accept: 'application/json, text/event-stream' }
  return { ...target(method, '/mcp', 'JSON-RPC', statuses, more), headers }
}

function inputOf({ input }: Tool): ApiSchema {
  return JSON.parse(JSON.stringify(input))
}

function authorization(): readonly ApiParameter[] {
  const fields: Readonly<Record<string, ApiSchema>> = {
    client_id: { enum: ['https://127.0.0.1:1/client.json', 'https://169.254.169.254/a', 'http://[::1]:1/a'] },
    redirect_uri: { enum: ['https://agent.example.org/back', 'javascript:alert(1)'] },
    response_type: { enum: ['code'] },
    code_challenge_method: { enum: ['S256'] },
    code_challenge: { enum: ['x'.repeat(43)] },
    scope: { type: 'string' },
    state: { type: 'string' },
  }
  return Object.entries(fields).map(([name, schema]) => ({ name, in: 'query', schema }))
}

function tokenFields(): Readonly<Record<string, ApiSchema>> {
  return {
    grant_type: { enum: ['authorization_code', 'refresh_token', 'password'] },
    client_id: { enum: ['https://agent.example.org/client.json'] },
    ...Object.fromEntries(
      ['code', 'redirect_uri', 'code_verifier', 'refresh_token', 'token'].map((name) => [
        name,
        { type: 'string' },
      ]),
    ),
  }
}

function form(properties: Readonly<Record<string, ApiSchema>>): Partial<ApiOperation> {
  const schema: ApiSchema = { type: 'object', properties }
  return { requestBody: { content: { 'application/x-www-form-urlencoded': { schema } } } }
}

export function target(
  method: string,
  path: string,
  errors: NonNullable<Target['errors']>,
  statuses: readonly number[],
  more: Partial<ApiOperation> = {},
): Target {
  const response = {
    description: '',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
  const always = [401, 413, 415, 503]
  const responses = Object.fromEntries([...statuses, ...always].map((status) => [String(status), response]))
  return { method, path, errors, operation: { ...more, responses } }
}
