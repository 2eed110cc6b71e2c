/** What asks for a confirmed session: each route of the management API that writes, or a reason why not. */
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { type Method, objectsOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

let fixture: TestQuoin
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_RATE_LIMIT: '0' })
})
afterAll(() => fixture?.close())

const MINUTE = 60_000
function codeOf(secret: string): string {
  return TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: fixture.now() })
}
function objectIn(body: JsonValue | undefined): JsonObject {
  if (!isJsonObject(body)) throw new Error(`This is no object: ${JSON.stringify(body)}`)
  return body
}
const signIn = (username: string) =>
  fixture.send('POST', '/auth/signin', { body: { username, password: userPassword } })

const NOTHING = '0190a6e0-0000-7000-8000-000000000000'
/**
 * Every route of the management API that writes and is not asked to confirm, with the reason. A new one is asked, or gets a line here. What a
 * session of weeks may do is what is undone easily, shows no secret and opens no door.
 */
const notAsked: Readonly<Record<string, readonly string[]>> = {
  'asks for a password, a code or a key itself': [
    ...['POST /auth/signin', 'POST /auth/login', 'POST /auth/second-factor', 'POST /auth/exchange'],
    ...['POST /auth/confirm', 'POST /auth/confirm/passkey', 'POST /auth/confirm/passkey/options'],
    ...['POST /auth/passkey', 'POST /auth/passkey/options'],
    ...['POST /auth/passkey/setup', 'POST /auth/passkey/setup/options', 'PUT /users/me'],
  ],
  'ends a way in, or opens none': [
    ...['POST /auth/signout', 'POST /auth/logout', 'POST /auth/pages'],
    ...['DELETE /users/me/sessions', 'DELETE /users/me/sessions/{session}'],
    ...['DELETE /users/{guid}/sessions', 'DELETE /users/{guid}/sessions/{session}'],
    ...['DELETE /users/me/agents/{agent}', 'DELETE /users/{guid}/agents/{agent}'],
    ...['POST /users/{guid}/reset-login-attempts', 'PUT /users/me/passkeys/{passkey}'],
    // The link goes to the address that the user has.
    ...['POST /users/{guid}/invitation', 'DELETE /users/{guid}/invitation'],
  ],
  'only reads, tries or plans': [
    ...[
      'POST /users/{guid}/explain',
      'POST /users/explain',
      'POST /blueprints/explain',
      'POST /_system/auditlogs',
    ],
    ...['POST /_system/auditlogs/check', 'POST /_system/alerts/{guid}/test', 'POST /blueprints/check/{guid}'],
    ...[
      'POST /_system/applications/plan',
      'POST /_system/drafts/{guid}/plan',
      'POST /blueprints/{guid}/test',
    ],
    ...['POST /_system/applications/{name}/releases/{number}/test', 'POST /_system/drafts/{guid}/test'],
    ...[
      'POST /_system/drafts/{guid}/try',
      'POST /blueprints/{guid}/preview',
      'POST /blueprints/{guid}/compare',
    ],
    ...['POST /_system/connections/{guid}/try', 'POST /_system/storages/{guid}/documents/import/preview'],
    ...['POST /_system/storages/samples', 'POST /blueprintfields/{guid}/check'],
    // Gives headers for a try of an endpoint. The secret stays, and the audit log has it.
    'POST /_system/secrets/sign',
  ],
  'asks again at each route that it calls': ['POST /_system/assistant', 'POST /_system/tools/{name}'],
  'builds: each change has a version or a draft, and secrets go to the hosts of their list': [
    ...[
      'POST /blueprints',
      'PUT /blueprints/{guid}',
      'DELETE /blueprints/{guid}',
      'POST /blueprints/{guid}/edits',
    ],
    ...['PUT /blueprints/update/set/active/{guid}', 'PUT /blueprints/update/set/inactive/{guid}'],
    ...['POST /blueprints/deploy/{guid}', 'PUT /blueprints/{guid}/tracing'],
    ...['POST /blueprintactions', 'PUT /blueprintactions/{guid}', 'DELETE /blueprintactions/{guid}'],
    ...['POST /blueprintactions/unsaved/{guid}', 'DELETE /blueprintactions/unsaved/{guid}'],
    ...['POST /blueprintfields', 'PUT /blueprintfields/{guid}', 'DELETE /blueprintfields/{guid}'],
    ...['DELETE /blueprintfields/{guid}/migration', 'POST /blueprintfields/{guid}/fill'],
    ...['POST /blueprinttemplates', 'PUT /blueprinttemplates/{guid}', 'DELETE /blueprinttemplates/{guid}'],
    ...['POST /_system/blueprintvalidation', 'DELETE /_system/blueprintvalidation/{guid}'],
    'PUT /_system/blueprintvalidation/{guid}/{updatehash}',
    ...['POST /_system/drafts', 'DELETE /_system/drafts/{guid}'],
    ...['POST /_system/previews', 'DELETE /_system/previews/{name}'],
    ...['POST /_system/pushes/{guid}/reject', 'POST /_system/pushes/{guid}/withdraw'],
    ...['POST /_system/environment', 'PUT /_system/environment/{guid}', 'DELETE /_system/environment/{guid}'],
    ...['DELETE /_system/connections/{guid}', 'PUT /_system/connections/{guid}/document'],
    ...['DELETE /_system/connections/{guid}/document', 'POST /_system/connections/{guid}/document/fetch'],
    'DELETE /_system/extensions/{name}',
    ...['POST /_system/storages', 'PUT /_system/storages/{guid}', 'POST /_system/storages/{guid}/text-index'],
    ...['POST /_system/storages/{guid}/views', 'PUT /_system/storages/{guid}/views/{view}'],
    'DELETE /_system/storages/{guid}/views/{view}',
  ],
  'works with documents and files: removed ones come back, and there is a history': [
    'POST /_system/storages/{guid}/documents',
    ...['update-many', 'remove-many', 'restore-many', 'put-back', 'import'].map(
      (one) => `POST /_system/storages/{guid}/documents/${one}`,
    ),
    'DELETE /_system/storages/{guid}/documents/imports/{import}',
    'PUT /_system/storages/{guid}/documents/{document}',
    'DELETE /_system/storages/{guid}/documents/{document}',
    'POST /_system/storages/{guid}/documents/{document}/restore',
    ...['POST /_system/assets/stream', 'DELETE /_system/assets/{guid}'],
  ],
  'runs what is built already': [
    ...['POST /blueprints/{guid}/run', 'POST /runs/{guid}/replay', 'POST /runs/{guid}/undo'],
    ...['POST /runs/{guid}/step', 'POST /runs/{guid}/resume', 'POST /runs/{guid}/stop'],
    ...['POST /runs/{guid}/send_again', 'POST /_hooks/{guid}'],
    ...['DELETE /_system/waits/{guid}', 'POST /_system/waits/{guid}/continue', 'POST /_system/waits/move'],
    ...['DELETE /queue/{guid}', 'POST /queue/{guid}/requeue', 'PUT /queues/{name}'],
  ],
  'adds a copy that stays on the server, or ends the making of one; shows none of it': [
    ...['POST /_system/backups', 'POST /_system/backups/{name}/check', 'DELETE /_system/backups/running'],
    'POST /_system/spaces/{guid}/backup',
  ],
  'ends a notice': ['DELETE /_system/alerts/{guid}'],
}
const isExcused = new Set(Object.values(notAsked).flat())
/** What reads and is asked: it takes all documents and sealed secrets away. */
const askedReads = ['GET /_system/backups/{name}/download']

interface Route {
  readonly method: Method
  readonly path: string
  readonly asks: boolean
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
function methodOf(name: string): Method {
  const method = methods.find((one) => one === name.toUpperCase())
  if (method === undefined) throw new Error(`${name} is no method.`)
  return method
}

/** All routes of the management API, from the table that the server answers by. */
async function routes(): Promise<Route[]> {
  const { paths } = objectIn(await fixture.manage('GET', '/openapi.json'))
  return Object.entries(objectIn(paths)).flatMap(([path, item]) =>
    Object.entries(objectIn(item)).map(([method, operation]) => ({
      method: methodOf(method),
      path: path.replace('/api/v1', ''),
      asks: JSON.stringify(objectIn(operation).responses).includes('CONFIRMATION_REQUIRED'),
    })),
  )
}
const nameOf = ({ method, path }: Route) => `${method} ${path}`

test('each route of the management API that writes asks to confirm, or says why not', async () => {
  const all = await routes()
  const writing = all.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/search'))
  expect(writing.length).toBeGreaterThan(150)
  const unasked = writing.filter(({ asks }) => !asks).map(nameOf)
  expect(unasked.filter((name) => !isExcused.has(name))).toEqual([])
  expect([...isExcused].filter((name) => !unasked.includes(name))).toEqual([])
  const reading = all.filter((route) => route.asks && !writing.includes(route))
  expect(reading.map(nameOf)).toEqual(askedReads)
})

test('what is dangerous needs a confirmed session, with a factor and without; an API key is not asked', async () => {
  const name = `root-${Date.now()}`
  await fixture.addUser(name, ['*'])
  const { access_token } = objectIn((await signIn(name)).body)
  const session = { authorization: `Bearer ${access_token}` }
  const made = await fixture.send('POST', '/users/me/keys', {
    headers: session,
    body: { name: 'CI', scopes: ['*'] },
  })
  const key = { 'x-api-key': String(objectIn(made.body).key) }
  const dangerous = (await routes()).filter(({ asks }) => asks)
  const refused = async (headers: Readonly<Record<string, string>>) => {
    const found: string[] = []
    for (const route of dangerous) {
      const path = route.path.replace('{number}', '1').replace(/\{[^}]+\}/g, NOTHING)
      const { body } = await fixture.send(route.method, path, { headers })
      if (isJsonObject(body) && body.error === 'CONFIRMATION_REQUIRED') found.push(nameOf(route))
    }
    return found
  }
  expect(await refused(session)).toEqual([])
  fixture.advance(6 * MINUTE)
  expect(await refused(session)).toEqual(dangerous.map(nameOf))
  expect(await refused(key)).toEqual([])
  await fixture.send('POST', '/auth/confirm', { headers: session, body: { password: userPassword } })
  expect(await refused(session)).toEqual([])
  const begun = objectIn((await fixture.send('POST', '/users/me/second-factor', { headers: session })).body)
  const added = await fixture.send('PUT', '/users/me/second-factor', {
    headers: session,
    body: { challenge: String(begun.challenge), code: codeOf(String(begun.secret)) },
  })
  expect(added.status).toBe(200)
  fixture.advance(6 * MINUTE)
  const confirm = (body: JsonObject) => fixture.send('POST', '/auth/confirm', { headers: session, body })
  expect((await confirm({ password: userPassword })).body).toMatchObject({ fields: ['code'] })
  expect(await refused(session)).toEqual(dangerous.map(nameOf))
  expect((await confirm({ password: userPassword, code: codeOf(String(begun.secret)) })).status).toBe(200)
  expect(await refused(session)).toEqual([])
})

test('an old session neither switches the confirmation off, nor makes an owner, nor takes over another user', async () => {
  const name = `root-${Date.now()}`
  const guid = await fixture.addUser(name, ['*'])
  const other = await fixture.addUser(`user-${Date.now()}`, [])
  const { access_token } = objectIn((await signIn(name)).body)
  const headers = { authorization: `Bearer ${access_token}` }
  const setting = '/_system/settings/QUOIN_CONFIRM_SECONDS'
  const attempts = [
    ['PUT', setting, { value: '0' }],
    ['DELETE', setting],
    ['PUT', '/_system/settings/QUOIN_PUSH_APPROVAL', { value: '' }],
    ['POST', '/users', { username: 'owner-2', password: userPassword, custom_scopes: ['*'] }],
    ['POST', '/users/invite', { username: 'owner-3', email: 'owner@example.com', custom_scopes: ['*'] }],
    ['PUT', `/users/${other}`, { password: 'another password of ours' }],
    ['PUT', `/users/${other}`, { email: 'thief@example.com' }],
    ['PUT', `/users/${other}`, { custom_scopes: ['*'] }],
    ['DELETE', `/users/${other}`],
  ] as const
  fixture.advance(6 * MINUTE)
  const users = async () =>
    objectsOf(await fixture.manage('POST', '/users/search', { limit: 1_000 })).map(
      ({ username, email, custom_scopes }) => [username, email, custom_scopes],
    )
  const before = await users()
  for (const [method, path, body] of attempts) {
    const reply = await fixture.send(method, path, { headers, ...(body && { body }) })
    expect([method, path, reply.status, reply.body]).toMatchObject([
      ...[method, path, 403],
      { error: 'CONFIRMATION_REQUIRED' },
    ])
  }
  expect(await users()).toEqual(before)
  await fixture.send('POST', '/auth/confirm', { headers, body: { password: userPassword } })
  // Not even a confirmed one: only who runs the nodes does.
  const off = await fixture.send('PUT', setting, { headers, body: { value: '0' } })
  expect([off.status, off.text]).toEqual([409, expect.stringContaining('environment of each node')])
  expect((await fixture.send('PUT', `/users/${guid}`, { headers, body: { firstname: 'Ada' } })).status).toBe(
    200,
  )
})
