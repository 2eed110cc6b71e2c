/** What a cluster has after its first weeks, so that no screen of the studio is empty. All of it goes through the API. */
import { readFile } from 'node:fs/promises'
import { importBlueprint } from '../../src/flows/blueprints/blueprint-file.ts'
import { guidSource } from '../../src/shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'

/** Guids of what there is to look at. */
export interface StudioContent {
  readonly tasks: string
  readonly storage: string
  /** A storage with a search that was slow. */
  readonly readings: string
  readonly document: string
  readonly user: string
  readonly template: string
  /** Of an application with a change since its release, and with two releases. */
  readonly draft: string
  readonly push: string
  readonly space: string
}

const starters = ['hello', 'guestbook', 'receipts', 'heartbeat']

const titles = [
  'Paint the fence',
  'Buy milk',
  'Call the plumber',
  'Water the plants',
  'Send the invoice',
  'Book a table for four',
  'Renew the passport',
  'Mend the bicycle',
]

const assets = [
  ['dashboard.png', 'image/png', '../../docs/screenshots/crm-dashboard.png'],
  ['tasks.json', 'application/json', '../../examples/tasks/blueprints/tasks.json'],
] as const

/** The tasks example must be installed. `token`: of the administrator. */
export async function fillCluster(address: string, token: string): Promise<StudioContent> {
  const call = caller(address, token)
  const [tasks] = await found(call, '/blueprints/search', { filters: { name: 'Tasks' } })
  for (const name of starters) await install(call, new URL(`${name}.blueprint.json`, starterFolder))
  const made: JsonValue[] = []
  for (let n = 0; n < 24; n += 1) {
    const title = titles[n % titles.length] ?? ''
    made.push(await call('POST', '/tasks', { title, status: n % 3 === 0 ? 'done' : 'open', priority: n % 5 }))
  }
  const document = guidOf(made.at(-1))
  await call('PUT', `/tasks/${document}`, { status: 'done' })
  for (const item of ['Ladder', 'Brush', 'Paint']) await call('POST', '/orders', { item, total: 12.5 })
  await call('POST', '/guestbook', { name: 'Ann', message: 'A fine place.' })

  const [storage] = await found(call, '/_system/storages/search', { filters: { name: 'tasks' } })
  await call('POST', '/blueprintfields', {
    name: 'title',
    type: 'string',
    storage: 'tasks',
    required: true,
    description: 'What is to be done.',
    validation_rules: { max_length: 120 },
  })
  await call('POST', '/blueprintfields', {
    name: 'status',
    type: 'string',
    storage: 'tasks',
    validation_rules: { choices: ['open', 'done'] },
  })
  for (const [name, type, file] of assets) {
    const form = new FormData()
    form.append('directory', 'public')
    form.append('file', new Blob([await readFile(new URL(file, import.meta.url))], { type }), name)
    await call('POST', '/_system/assets/stream', form)
  }
  const template = await call('POST', '/blueprinttemplates', {
    name: 'House style',
    description: 'Petrol on white, with the name above.',
    content: JSON.stringify({ layout: 'top', brand: 'Harbour & Co' }),
    css: 'h1 { letter-spacing: 0; }',
  })
  await call('POST', '/_system/blueprintvalidation', {
    rule_type: 'naming',
    parameters: { target: 'uri', pattern: '^[a-z/{}]+$' },
    message: 'Addresses are written in small letters.',
    severity: 'warning',
  })
  await call('POST', '/_system/environment', { name: 'BASE_URL', value: 'https://shop.example' })
  const group = await call('POST', '/_system/authentication-groups', {
    name: 'Desk',
    description: 'Who takes orders.',
    scopes: ['orders', 'storages_view'],
  })
  const user = await call('POST', '/users', {
    username: 'ann',
    password: 'a password for ann',
    email: 'ann@example.com',
    firstname: 'Ann',
    lastname: 'Harbour',
    groups: [guidOf(group)],
  })
  const space = await call('POST', '/_system/spaces', {
    ...{ name: 'harbour', title: 'Harbour & Co', hosts: ['harbour.example.com', 'shop.harbour.example.com'] },
    quotas: { documents: 1_000, bytes: 500_000, runs_a_minute: 600 },
  })
  return {
    tasks: guidOf(tasks),
    storage: guidOf(storage),
    readings: await slowStorage(call),
    document,
    user: guidOf(user),
    template: guidOf(template),
    draft: await release(call),
    push: await pendingPush(call),
    space: guidOf(isJsonObject(space) ? space.space : null),
  }
}

/** Two releases of an application, a change in the studio since, and a draft with a problem; gives the draft. */
async function release(call: Call): Promise<string> {
  const about = { name: 'harbour', title: 'Harbour shop', version: '1.1', needs: { env: ['HARBOUR_MAIL'] } }
  const blueprint = (value: string) => ({
    name: 'Harbour hours',
    blocks: {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'harbour/hours' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value } },
    },
  })
  const hours = {
    name: 'Opening hours',
    cases: [
      { name: 'morning', time: '9' },
      { name: 'evening', time: '18' },
      { name: 'night', time: '23' },
    ],
    steps: [{ request: 'GET /harbour/hours', expect: { status: 200 } }],
    score: '=contains(value, doc.time)',
    at_least: 0.5,
  }
  const parts = { groups: {}, templates: {}, seed: {}, tests: { hours } }
  for (const [value, storages] of [
    ['8 to 17', {}],
    ['9 to 18', { harbour_boats: { fields: { name: { type: 'string' } } } }],
  ] as const) {
    const application = { about, blueprints: { hours: blueprint(value) }, storages, ...parts }
    const plan = await call('POST', '/_system/applications/plan', { application })
    const state = isJsonObject(plan) ? (plan.state ?? '') : ''
    await call('POST', '/_system/applications/push', { application, state })
  }
  await call('POST', '/blueprintfields', { name: 'metres', type: 'number', storage: 'harbour_boats' })
  const changes = [
    { path: 'blueprints/hours.json', old: 'httpconnection_set_json', new: 'httpconnection_set_jsn' },
  ]
  const draft = await call('POST', '/_system/drafts', { application: 'harbour', changes })
  return isJsonObject(draft) ? String(draft.guid) : ''
}

/** A push of the administrator that waits for another user. */
export async function pendingPush(
  call: (method: 'POST' | 'PUT', path: string, body: JsonValue) => Promise<JsonValue>,
  name = 'pier',
): Promise<string> {
  await call('PUT', '/_system/settings/QUOIN_PUSH_APPROVAL', { value: 'pier, pier1, pier2, pier3' })
  const answer = { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'open' } }
  const on = { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] }
  const application = {
    ...{ about: { name }, blueprints: { [name]: { name, blocks: { on, answer } } } },
    ...{ storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
  }
  const plan = await call('POST', '/_system/applications/plan', { application })
  const state = isJsonObject(plan) ? (plan.state ?? '') : ''
  const reply = await call('POST', '/_system/applications/push', { application, state })
  return isJsonObject(reply) && isJsonObject(reply.waiting) ? String(reply.waiting.guid) : ''
}

type Call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue | FormData) => Promise<JsonValue>

/** Sends requests to paths under /api/v1, and gives the bodies of the replies. A list goes as one line each where documents are imported. */
function caller(address: string, token: string): Call {
  return async (method, path, body) => {
    const isForm = body instanceof FormData
    const type = path.endsWith('/documents/import') ? 'application/x-ndjson' : 'application/json'
    const reply = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && !isForm && { 'content-type': type }),
      },
      ...(body !== undefined && { body: isForm ? body : textOf(body, type) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    return JSON.parse(text)
  }
}

function textOf(body: JsonValue, type: string): string {
  if (type === 'application/json' || !Array.isArray(body)) return JSON.stringify(body)
  return body.map((line) => JSON.stringify(line)).join('\n')
}

const starterFolder = new URL('../../src/studio/starters/', import.meta.url)

async function install(call: Call, file: URL): Promise<void> {
  const newGuid = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))
  const json: unknown = JSON.parse(await readFile(file, 'utf8'))
  const { name, description, blocks } = importBlueprint(json, newGuid)
  const guid = guidOf(await call('POST', '/blueprints', { name, description }))
  const edits = blocks.map(({ guid: block, ...content }) => ({ guid: block, update_hash: null, content }))
  await call('POST', `/blueprints/${guid}/edits`, JSON.parse(JSON.stringify({ edits })))
  await call('POST', `/blueprintactions/unsaved/${guid}`, {})
  await call('PUT', `/blueprints/update/set/active/${guid}`, {})
}

/** So many that no machine reads all of them in the time that a search may take. */
const READINGS = 20_000

async function slowStorage(call: Call): Promise<string> {
  const guid = guidOf(await call('POST', '/_system/storages', { name: 'readings' }))
  const places = ['Oslo', 'Lima', 'Pune', 'Kyiv']
  const readings = Array.from({ length: READINGS }, (_, n) => ({
    place: places[n % places.length] ?? '',
    celsius: (n % 400) / 10,
  }))
  await call('POST', `/_system/storages/${guid}/documents/import`, readings)
  const slow = { filters: { place: 'Lima' }, sort: [{ celsius: 'desc' }], limit: 5 }
  await call('POST', `/_system/storages/${guid}/documents/search`, slow)
  return guid
}

async function found(call: Call, path: string, body: JsonObject): Promise<JsonValue[]> {
  const reply = await call('POST', path, body)
  return Array.isArray(reply) ? reply : []
}

function guidOf(record: JsonValue | undefined): string {
  const meta = isJsonObject(record) ? record._meta : undefined
  if (!isJsonObject(meta) || typeof meta.guid !== 'string')
    throw new TypeError(`No guid: ${JSON.stringify(record)}`)
  return meta.guid
}
