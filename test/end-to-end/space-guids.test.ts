/**
 * Guids of one space in every place of another one where a guid can stand: paths, queries and bodies of all management endpoints, as the
 * administrator, who may do everything there. Each reply is the one to a guid that was never made, and the other space stays as it is.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { search } from '../../src/shared/query.ts'
import { documentOf } from '../../src/storage/database.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { guidOf, objectOf, objectsOf } from './harness.ts'
import { later, openTestCluster, type TestCluster, type TestSpace } from './space-fixture.ts'

const NEVER_MADE = '0190a6e0-0000-7000-8000-000000000000'
const MARK = 'only-in-blue'

let cluster: TestCluster
let red: TestSpace
let blue: TestSpace
/** Of blue, by what they are of. */
const guids = new Map<string, string>()
beforeAll(async () => {
  cluster = await openTestCluster({ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_RATE_LIMIT: '0' })
  red = await cluster.addSpace('red')
  blue = await cluster.addSpace('blue')
  guids.set('user', await blue.addUser(`${MARK}-user`, ['users_view']))
  const make = async (kind: string, path: string, body: JsonValue) =>
    guids.set(kind, guidOf(await blue.manage('POST', path, body)))
  await make('storage', '/_system/storages', { name: 'notes' })
  await make('group', '/_system/authentication-groups', { name: MARK, scopes: ['users_view'] })
  await make('document', `/_system/storages/${guids.get('storage')}/documents`, { text: MARK })
  await make('environment', '/_system/environment', { name: 'MARK', value: MARK })
  const alert = { name: 'marked', figure: 'queue_age', threshold: 1, description: MARK }
  await make('alert', '/_system/alerts', alert)
  const blueprint = await blue.install(MARK, {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'marked' }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@get.flow', value: MARK } },
  })
  guids.set('blueprint', blueprint)
  const [block] = objectsOf(
    await blue.manage('POST', '/blueprintactions/search', { filters: { blueprint_guid: blueprint } }),
  )
  guids.set('block', guidOf(block))
  const key = await blue.manage('POST', `/users/me/keys`, { name: 'marked', scopes: ['users_view'] })
  guids.set('key', guidOf(objectOf(key)))
  await make('connection', '/_system/connections', {
    name: 'marked',
    description: MARK,
    base_url: 'https://example.com',
  })
  await make('secret', '/_system/secrets', { name: 'MARK', value: MARK })
  const provider = { name: 'marked', title: MARK, issuer: 'https://id.example.com', client_id: MARK }
  await make('provider', '/_system/signin-providers', provider)
  await blue.install('waiting', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'waiting' }, scopes: ['*public'] },
    wait: { type: 'wait_for_webhook', in: { flow: '@get.flow', for: '1h' } },
    reply: { type: 'reply', in: { flow: '@wait.now', value: MARK } },
  })
  await blue.send('GET', '/waiting')
  const files = {
    'quoin.json': JSON.stringify({ name: 'marked' }),
    'blueprints/app.json': JSON.stringify({ name: 'app', blocks: {} }),
  }
  const changes = Object.entries(files).map(([path, text]) => ({ path, text }))
  const draft = objectOf(await blue.manage('POST', '/_system/drafts', { application: 'marked', changes }))
  guids.set('draft', String(draft.guid))
  const plan = objectOf(await blue.manage('POST', `/_system/drafts/${draft.guid}/plan`))
  await blue.manage('POST', `/_system/drafts/${draft.guid}/push`, { state: String(plan.state) })
  const { database } = await blue.enter()
  await transact(database, async (session) => {
    guids.set('job', String(await session.enqueue(later)))
    const { passkeys, pushes, runs, imports } = systemStorages
    for (const [kind, name] of Object.entries({
      passkey: passkeys,
      push: pushes,
      run: runs,
      import: imports,
    }))
      guids.set(kind, guidOf(documentOf(await session.create(name, setFields({ name: MARK })))))
  })
  // Versions, sessions, waits, releases and all else that was made meanwhile.
  for (const name of database.names().filter((one) => one.startsWith('_'))) {
    const [first] = documentsOf(await database.session().find(name, search({ limit: 1 })))
    if (first) guids.set(name, guidOf(first))
  }
})
afterAll(() => cluster.close())

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly body: JsonObject | undefined
}

/** Those that take a guid somewhere, but for those that end the sessions which ask, and a stream without an end. */
async function endpoints(): Promise<Endpoint[]> {
  const { paths } = objectOf((await red.send('GET', '/openapi.json', { token: await red.signIn() })).body)
  return Object.entries(objectOf(paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).flatMap(([method, operation]) => {
      const { requestBody } = objectOf(operation)
      const content = isJsonObject(requestBody) ? objectOf(requestBody.content) : {}
      const json = content['application/json']
      const body = isJsonObject(json) ? objectOf(json.schema) : undefined
      const takesGuid = path.includes('{') || /guid/i.test(JSON.stringify(body ?? {}))
      const isEndless = path.endsWith('/runs/stream')
      const endsSessions = /signout|logout|users\/me\/sessions$/.test(path)
      return takesGuid && !isEndless && !endsSessions ? [{ method: method.toUpperCase(), path, body }] : []
    }),
  )
}

/** What the schema allows, with the guid as each text. */
function filled(schema: JsonValue | undefined, guid: string, depth = 0): JsonValue {
  const {
    type,
    properties,
    items,
    anyOf,
    oneOf,
    const: fixed,
    enum: choices,
    minimum,
  } = isJsonObject(schema) ? schema : {}
  if (fixed !== undefined) return fixed
  if (Array.isArray(choices)) return choices[0] ?? null
  const [first] = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
  if (first !== undefined) return filled(first, guid, depth + 1)
  if (type === 'array') return depth > 5 ? [] : [filled(items, guid, depth + 1)]
  if (type === 'integer' || type === 'number') return typeof minimum === 'number' ? minimum : 1
  if (type === 'boolean') return true
  if (type === 'object' && isJsonObject(properties))
    return Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [name, filled(inner, guid, depth + 1)]),
    )
  return type === 'object' ? {} : guid
}

async function asked({ method, path, body }: Endpoint, guid: string, token: string): Promise<string> {
  const place = `/api/v1${path.replace(/^\/api\/v1/, '')}`.replace(/\{[^}]+\}/g, guid)
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const { status, text } = await cluster.ask(red.host, method, place, headers, body && filled(body, guid))
  // A guid comes back in messages, and what was made meanwhile has a guid and times of its own.
  const plain = text
    .replaceAll(guid, '<guid>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<new>')
    .replace(/"(?:created|updated|cms|ums|update_hash|expiry|at|request|seen|load|hash)":[^,}]+/g, '')
  return `${status} ${plain}`
}

/** All that blue has stored, but for what it notes of its own work. */
async function stateOfBlue(): Promise<string> {
  const { database } = await blue.enter()
  const names = database.names().filter((name) => !/log|figures|limits|access|sign|token|audit/.test(name))
  const sort = [{ field: '_meta.guid', order: 'asc', missing: 'last' } as const]
  const all = await Promise.all(
    names.toSorted().map(async (name) => {
      const found = await database.session().find(name, search({ sort, limit: 1_000, includeRemoved: true }))
      return `${name} ${JSON.stringify(documentsOf(found))}`
    }),
  )
  return all.join('\n')
}

test('each reply to a guid of another space is the one to a guid that was never made', async () => {
  const all = await endpoints()
  expect(all.length).toBeGreaterThan(80)
  expect([...guids.keys()]).toEqual(
    expect.arrayContaining(['_waits', '_tokens', '_releases', '_deployments']),
  )
  const before = await stateOfBlue()
  expect(before).toContain(MARK)
  const token = await red.signIn()
  const differences: string[] = []
  for (const endpoint of all) {
    const unknown = await asked(endpoint, NEVER_MADE, token)
    for (const [kind, guid] of guids) {
      const reply = await asked(endpoint, guid, token)
      if (reply.includes(MARK)) differences.push(`${endpoint.method} ${endpoint.path} shows ${kind}`)
      const isSame = reply === unknown || (await asked(endpoint, NEVER_MADE, token)) === reply
      if (!isSame)
        differences.push(
          `${endpoint.method} ${endpoint.path} with a ${kind}: ${reply.slice(0, 200)} for ${unknown.slice(0, 200)}`,
        )
    }
  }
  expect(differences).toEqual([])
  expect(await stateOfBlue()).toBe(before)
})

test('in its own space each of them is found', async () => {
  const found = async (path: string) => (await blue.send('GET', path, { token: await blue.signIn() })).text
  expect(await found(`/users/${guids.get('user')}`)).toContain(MARK)
  expect(await found(`/blueprints/${guids.get('blueprint')}`)).toContain(MARK)
  const documents = `/_system/storages/${guids.get('storage')}/documents/${guids.get('document')}`
  expect(await found(documents)).toContain(MARK)
})
