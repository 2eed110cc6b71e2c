/** One of each thing that has a guid, in a space: what another space must not find. */
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { search } from '../../src/shared/query.ts'
import { documentOf } from '../../src/storage/database.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { textAt } from '../json-at.ts'
import { guidOf, objectOf, objectsOf, userPassword } from './harness.ts'
import { later, type TestCluster, type TestSpace } from './space-fixture.ts'

/** Guids by what they are of; also of the first record of each of Quoin's own storages, by its name. */
export type Contents = ReadonlyMap<string, string>

/** One for each request that restores it. */
const removed = ['removed document', 'removed with others', 'removed to be put back']

const open = { scopes: ['*public'] }
const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, ...open })

/** `mark`: is in the texts of each. */
export async function fillSpace(cluster: TestCluster, space: TestSpace, mark: string): Promise<Contents> {
  const guids = new Map<string, string>()
  const make = async (kind: string, path: string, body: JsonValue) => {
    const made = await space.manage('POST', path, body)
    guids.set(kind, guidOf(made))
    return objectOf(made)
  }
  guids.set('user', await space.addUser(`${mark}-user`, ['users_view']))
  await fillData(make, guids, mark)
  const documents = `/_system/storages/${guids.get('storage')}/documents`
  for (const kind of removed) await space.manage('DELETE', `${documents}/${guids.get(kind)}`)
  const csv = { authorization: `Bearer ${await space.signIn()}`, 'content-type': 'text/csv' }
  const brought = await cluster.ask(
    space.host,
    'POST',
    `/api/v1${documents}/import?undo=true`,
    csv,
    'text\nbrought',
  )
  guids.set('import', textAt(brought.body, 'undo'))
  await make('group', '/_system/authentication-groups', { name: mark, scopes: ['users_view'] })
  await make('environment', '/_system/environment', { name: 'MARK', value: mark })
  const alert = { name: 'marked', figure: 'queue_age', threshold: 1, description: mark }
  await make('alert', '/_system/alerts', alert)
  await make('template', '/blueprinttemplates', { name: mark, description: mark })
  await make('rule', '/_system/blueprintvalidation', {
    rule_type: 'max_blocks',
    parameters: { max: 500 },
    message: mark,
  })
  await make('secret', '/_system/secrets', { name: 'MARK', value: mark })
  const provider = { name: 'marked', title: mark, issuer: 'https://id.example.com', client_id: mark }
  await make('provider', '/_system/signin-providers', provider)
  await make('connection', '/_system/connections', {
    ...{ name: 'marked', description: mark, base_url: 'https://example.com' },
  })
  await space.manage('PUT', `/_system/connections/${guids.get('connection')}/document`, described(mark))
  const [operation] = objectsOf(await space.manage('POST', '/_system/operations/search', {}))
  guids.set('operation', guidOf(operation))
  await fillFlows(space, guids, mark)
  await fillApplications(space, guids, mark)
  await fillPeople(space, guids, mark)
  guids.set('asset', await uploadTo(cluster, space, `${mark}.txt`))
  const me = await space.manage('GET', '/users/me')
  const { database } = await space.enter()
  await transact(database, async (session) => {
    guids.set('job', String(await session.enqueue(later)))
    const passkey = setFields({ name: mark, user_guid: guidOf(me) })
    for (const [kind, user] of [
      ['account', guids.get('user') ?? ''],
      ['own account', guidOf(me)],
    ] as const) {
      const fields = {
        key: `${mark} ${kind}`,
        provider: guids.get('provider') ?? '',
        subject: mark,
        user_guid: user,
      }
      const account = await session.create(
        systemStorages.providerAccounts,
        setFields({ ...fields, last_used: 0 }),
      )
      guids.set(kind, guidOf(documentOf(account)))
    }
    guids.set('passkey', guidOf(documentOf(await session.create(systemStorages.passkeys, passkey))))
  })
  // Versions, deployments, releases, recorded requests and all else that was made meanwhile.
  for (const name of database.names().filter((one) => one.startsWith('_'))) {
    const [first] = documentsOf(await database.session().find(name, search({ limit: 1 })))
    if (first) guids.set(name, guidOf(first))
  }
  return guids
}

type Make = (kind: string, path: string, body: JsonValue) => Promise<JsonObject>

/** Documents that refer to each other, one that is removed, and a view of them. */
async function fillData(make: Make, guids: Map<string, string>, mark: string): Promise<void> {
  await make('storage', '/_system/storages', { name: 'notes', history: true })
  const field = { name: 'about', type: 'reference', storage: 'notes', reference: { storage: 'notes' } }
  await make('field', '/blueprintfields', field)
  const documents = `/_system/storages/${guids.get('storage')}/documents`
  await make('document', documents, { text: mark })
  await make('referring document', documents, { text: mark, about: guids.get('document') ?? '' })
  for (const kind of ['other document', 'spare document', ...removed])
    await make(kind, documents, { text: mark })
  const view = { name: mark, shared: true, address: 'text=1' }
  await make('view', `/_system/storages/${guids.get('storage')}/views`, view)
}

/** An endpoint, a page, a run that is recorded, and two that wait. */
async function fillFlows(space: TestSpace, guids: Map<string, string>, mark: string): Promise<void> {
  const blueprint = await space.install(mark, {
    get: get('marked'),
    write: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@get.flow', storage: 'notes', set: { text: mark } },
    },
    reply: { type: 'reply', in: { flow: '@write.flow', value: mark } },
    guarded: { ...get('guarded'), scopes: ['nobody_has_it'] },
    guards: { type: 'reply', in: { flow: '@guarded.flow', value: mark } },
    page: { type: 'state_page', in: { title: mark, url: 'marked' }, ...open },
    heading: { type: 'state_h1', in: { text: mark } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@heading.state' } },
    hook: { type: 'on_startup_register_uri_post', in: { uri: 'hook' }, ...open },
    check: {
      type: 'check_signature',
      in: { flow: '@hook.flow', secret: 'MARK' },
      fields: { sender: 'stripe' },
    },
    waiting: get('waiting'),
    wait: { type: 'wait_for_webhook', in: { flow: '@waiting.flow', for: '1d' } },
    waits: { type: 'reply', in: { flow: '@wait.now', value: '@wait.address' } },
    asking: get('asking'),
    approval: {
      type: 'wait_for_approval',
      in: { flow: '@asking.flow', title: mark, for: '1d', scopes: ['*'] },
    },
    asks: { type: 'reply', in: { flow: '@approval.now', value: '@approval.wait' } },
  })
  guids.set('blueprint', blueprint)
  const filters = { blueprint_guid: blueprint }
  for (const block of objectsOf(await space.manage('POST', '/blueprintactions/search', { filters })))
    guids.set(`block ${String(block.name)}`, guidOf(block))
  guids.set('block', guids.get('block get') ?? '')
  const tracing = { on: true, minutes: 60, keep_last: 20, record_one_in: 1 }
  await space.manage('PUT', `/blueprints/${blueprint}/tracing`, tracing)
  await space.send('GET', '/marked')
  const runs = async () => objectsOf(await space.manage('GET', `/runs?blueprint=${blueprint}`))
  const [run] = await until(runs, (found) => found.length > 0)
  guids.set('run', textAt(run, 'guid'))
  for (const [kind, path] of [
    ['wait', '/waiting'],
    ['approval', '/asking'],
  ] as const) {
    const { body } = await space.send('GET', path)
    const guid = /[0-9a-f-]{36}/.exec(String(body))?.[0]
    if (guid === undefined) throw new Error(`${path}: ${String(body)}`)
    guids.set(kind, guid)
  }
  // What waits now is of a former version, and can be moved.
  await space.manage('PUT', `/blueprintactions/${guids.get('block')}`, { title: mark })
  await space.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  await space.manage('POST', `/blueprints/deploy/${blueprint}`)
}

/** A draft, a release, and a push that waits. */
async function fillApplications(space: TestSpace, guids: Map<string, string>, mark: string): Promise<void> {
  const make = async (kind: string, application: string) => {
    const files = {
      'quoin.json': { name: application },
      'blueprints/app.json': { name: `${application} of ${mark}`, blocks: {} },
      'groups.json': { groups: { [`Group of ${kind} of ${mark}`]: { scopes: [] } } },
    }
    const changes = Object.entries(files).map(([path, file]) => ({ path, text: JSON.stringify(file) }))
    const made = objectOf(await space.manage('POST', '/_system/drafts', { application, changes }))
    guids.set(kind, String(made.guid))
    const { state } = objectOf(await space.manage('POST', `/_system/drafts/${made.guid}/plan`))
    return { path: `/_system/drafts/${made.guid}/push`, body: { state: String(state) } }
  }
  const pushed = await make('pushed draft', 'marked')
  await space.manage('POST', pushed.path, pushed.body)
  const filters = { name: `marked of ${mark}` }
  const [released] = objectsOf(await space.manage('POST', '/blueprints/search', { filters }))
  guids.set('released blueprint', guidOf(released))
  await make('draft', 'marked')
  await space.manage('PUT', '/_system/settings/QUOIN_PUSH_APPROVAL', { value: '*' })
  const waiting = await make('waiting draft', 'waiting')
  await space.manage('POST', waiting.path, waiting.body)
  const [push] = objectsOf(await space.manage('GET', '/_system/pushes'))
  guids.set('push', String(push?.guid))
  await space.manage('DELETE', '/_system/settings/QUOIN_PUSH_APPROVAL')
}

/** Keys, sessions and agents: of the administrator and of the user. */
async function fillPeople(space: TestSpace, guids: Map<string, string>, mark: string): Promise<void> {
  const user = `/users/${guids.get('user')}`
  const key = { name: mark, scopes: ['users_view'] }
  guids.set('own key', guidOf(await space.manage('POST', '/users/me/keys', key)))
  guids.set('key', guidOf(await space.manage('POST', `${user}/keys`, key)))
  await space.signIn(`${mark}-user`, userPassword)
  const token = await space.signIn()
  const sessionsAt = async (path: string) => objectsOf(await space.manage('GET', path))
  const [session] = await sessionsAt(`${user}/sessions`)
  guids.set('session', guidOf(session))
  const own = (await sessionsAt('/users/me/sessions')).find(({ current }) => current !== true)
  guids.set('own session', guidOf(own))
  const { access } = await space.enter()
  for (const [kind, as] of [
    ['agent', await space.signIn(`${mark}-user`, userPassword)],
    ['own agent', token],
  ] as const) {
    const by = await access.identify(as)
    if (!by) throw new Error('No one is signed in.')
    const client = {
      clientId: 'https://agent.example.org/a.json',
      redirectUri: 'https://agent.example.org/back',
    }
    const verifier = 'v'.repeat(43)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const terms = { clientName: mark, challenge, scopes: ['users_view'], seconds: 3_600, once: kind }
    const code = await access.agents.consent(by, { ...client, ...terms })
    await access.agents.redeem({ ...client, code, verifier })
    const [agent] = objectsOf(await space.manage('GET', `/users/${by.guid}/agents`))
    guids.set(kind, String(agent?.guid))
  }
}

/** Gives the guid of the file. */
export async function uploadTo({ port }: TestCluster, space: TestSpace, name: string, directory = 'private') {
  const token = await space.signIn()
  const made = await new Promise<string>((resolve, reject) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', port, method: 'POST' },
        path: `/api/v1/_system/assets/stream?directory=${directory}&filename=${name}`,
        headers: {
          host: space.host,
          authorization: `Bearer ${token}`,
          'content-type': 'application/octet-stream',
        },
      },
      (reply) => {
        let text = ''
        reply.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        reply.on('end', () => resolve(text))
      },
    )
    sent.on('error', reject)
    sent.end(`content of ${name}`)
  })
  return guidOf(JSON.parse(made))
}

/** What is written behind its reply. */
async function until<T>(read: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await read()
    if (isThere(found)) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const described = (mark: string): JsonObject => ({
  openapi: '3.0.3',
  info: { title: mark, version: '1' },
  paths: {
    '/marked': { get: { operationId: 'marked', summary: mark, responses: { 200: { description: mark } } } },
  },
})
