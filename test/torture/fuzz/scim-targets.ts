/** `/scim/v2`, and the doors of sign-in for browsers and providers, which the OpenAPI document does not describe. */
import type { ApiOperation, ApiParameter, ApiSchema } from '../../../src/http/docs/open-api-document.ts'
import { target } from './agent-targets.ts'
import type { Target } from './make-request.ts'

const text: ApiSchema = { type: 'string' }
const user = objectOf({
  userName: text,
  externalId: text,
  active: { enum: [true, false, 'True', 'False'] },
  name: objectOf({ givenName: text, familyName: text }),
  emails: { type: 'array', items: objectOf({ value: text, type: { enum: ['work', 'home'] } }) },
})
const group = objectOf({
  displayName: text,
  externalId: text,
  members: { type: 'array', items: objectOf({ value: text }) },
})
const paths = [
  ...['active', 'userName', 'emails[type eq "work"].value', 'name.familyName', 'members', 'displayName', ''],
  ...['members[value eq "x"]', 'urn:ietf:params:scim:schemas:core:2.0:User:externalId', 'a[b'],
]
const patch = objectOf({
  Operations: {
    type: 'array',
    items: objectOf({
      op: { enum: ['add', 'Replace', 'remove', 'move'] },
      path: { enum: paths },
      value: { enum: ['False', 'x', null, { displayName: 'x' }, [{ value: 'x' }], 5] },
    }),
  },
})
const list = [
  parameter('filter', {
    enum: [
      'userName eq "a"',
      '((externalId eq "b"))',
      'meta.lastModified gt "2026-01-01"',
      'a eq',
      '(',
      'id pr or',
    ],
  }),
  parameter('startIndex', { enum: ['1', '-1', '10002', 'x'] }),
  parameter('count', { enum: ['0', '2', '1000000'] }),
  parameter('cursor', { enum: ['', 'x'] }),
  parameter('attributes', text),
]
const id: readonly ApiParameter[] = [{ name: 'id', in: 'path', required: true, schema: text }]

export const scimTargets: readonly Target[] = [
  scim('GET', '/ServiceProviderConfig'),
  scim('GET', '/Schemas'),
  scim('GET', '/ResourceTypes'),
  ...(['Users', 'Groups'] as const).flatMap((kind) => [
    scim('GET', `/${kind}`, { parameters: list }),
    scim('POST', `/${kind}`, body(kind === 'Users' ? user : group)),
    scim('GET', `/${kind}/{id}`, { parameters: id }),
    scim('PUT', `/${kind}/{id}`, { parameters: id, ...body(kind === 'Users' ? user : group) }),
    scim('PATCH', `/${kind}/{id}`, { parameters: id, ...body(patch) }),
    scim('DELETE', `/${kind}/{id}`, { parameters: id }),
  ]),
  scim('POST', '/Bulk', body(patch)),
]

const challenge = 'x'.repeat(43)
const from = [
  ...['state', 'code', 'iss', 'error', 'error_description'].map((name) => parameter(name, text)),
  parameter('next', { enum: ['/docs', '//evil.example', 'javascript:alert(1)', '/'] }),
  parameter('again', { enum: ['1', '0'] }),
]
const token: ApiSchema = { enum: ['e30.e30.e30', 'a.b', '', `${'a'.repeat(4_000)}.e30.e30`] }

export const signInTargets: readonly Target[] = [
  page('GET', '/_signin', {
    parameters: [
      parameter('port', { enum: ['8080', '1', 'x'] }),
      parameter('challenge', { enum: [challenge, 'x'] }),
    ],
  }),
  page('GET', '/_signin/fuzz', { parameters: from }),
  page('GET', '/_signin/fuzz/callback', { parameters: from }),
  page('POST', '/_signin/fuzz/logout', form({ logout_token: token })),
  ...[
    '/login',
    '/login/code',
    '/password/app',
    '/password/passkeys',
    '/password/forgot',
    '/password/set',
  ].flatMap((path) => [
    page('GET', path, { parameters: [parameter('next', text), parameter('link', text)] }),
    page(
      'POST',
      path,
      form({ action: text, code: text, name: text, passkey: text, email: text, token: text }),
    ),
  ]),
]

/** As a browser sends them from a page of this site. */
function page(method: string, path: string, more: Partial<ApiOperation> = {}): Target {
  const statuses = [200, 302, 303, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 503]
  return { ...target(method, path, 'page', statuses, more), headers: { 'sec-fetch-site': 'same-origin' } }
}

function form(properties: Readonly<Record<string, ApiSchema>>): Partial<ApiOperation> {
  return {
    requestBody: { content: { 'application/x-www-form-urlencoded': { schema: objectOf(properties) } } },
  }
}

function scim(method: string, path: string, more: Partial<ApiOperation> = {}): Target {
  const statuses = [200, 201, 204, 304, 400, 401, 403, 404, 409, 412, 413, 415, 429, 503]
  return target(method, `/scim/v2${path}`, 'SCIM', statuses, more)
}

function body(schema: ApiSchema): Partial<ApiOperation> {
  return { requestBody: { content: { 'application/json': { schema } } } }
}

function objectOf(properties: Readonly<Record<string, ApiSchema>>): ApiSchema {
  return { type: 'object', properties }
}

function parameter(name: string, schema: ApiSchema): ApiParameter {
  return { name, in: 'query', schema }
}
