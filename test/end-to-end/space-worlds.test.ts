/** Random operations in two spaces: each replies as a cluster of its own to which only its own operations were sent. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { type AssetPlace, openAssetPlace } from '../asset-place.ts'
import { jsonAt } from '../json-at.ts'
import { seededRandom } from '../seeded-random.ts'
import { adminPassword, guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { askAt, openTestCluster, type TestCluster } from './space-fixture.ts'

const onPostgres = inject('engine') === 'postgres'
/** One after the other on what the former has left. With steps; where each space is a database on a server, fewer. */
const seeds: readonly (readonly [number, number])[] = onPostgres
  ? [[20_261_130, 90]]
  : [
      [20_261_129, 150],
      [42, 150],
    ]

const open = { scopes: ['*public'] }
const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, ...open })
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })

/** The same in all four. */
const blocks: JsonObject = {
  add: post('items'),
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@add.flow', storage: 'items', set: '={ word: body.word, size: body.size }' },
  },
  created: { type: 'reply', in: { flow: '@create.flow', value: '=create.document.word' } },
  event: { type: 'storage_event', in: { storage: '@items.storage', events: ['on_created'] } },
  items: { type: 'storage', fields: { storage: 'items' } },
  note: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@event.flow', storage: 'noted', set: '={ word: event.document.word }' },
  },
  noted: get('noted'),
  all_noted: { type: 'function_search', in: { flow: '@noted.flow', storage: 'noted' } },
  were_noted: { type: 'reply', in: { flow: '@all_noted.flow', value: '=all_noted.total' } },
  later: post('later'),
  job: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@later.flow', function: 'nothing', delay: '1d' },
  },
  waiting: get('waiting'),
  wait: { type: 'wait_for_webhook', in: { flow: '@waiting.flow', for: '1d' } },
  waits: { type: 'reply', in: { flow: '@wait.now', value: '@wait.address' } },
  hourly: { type: 'schedule_repeating_event', in: { every: '1h' } },
  ticked: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@hourly.flow', storage: 'ticks', set: { at: 'tick' } },
  },
  file: post('files'),
  write: { type: 'write_file', in: { flow: '@file.flow', content: '=body.content', name: '=body.name' } },
  written: { type: 'reply', in: { flow: '@write.flow', value: 'written' } },
  open_file: get('files'),
  read: { type: 'read_file', in: { flow: '@open_file.flow', file: '=query.name' } },
  was_read: { type: 'reply', in: { flow: '@read.flow', value: '=read.text' } },
}

/** Without tracing: its replies are cached. */
const lists: JsonObject = {
  list: get('items'),
  search: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: 'items', where: '=doc.size >= number(query.least ?? "0")' },
  },
  listed: {
    type: 'reply',
    in: {
      flow: '@search.flow',
      value: '=({ total: search.total, words: search.documents.map(one => one.word) })',
    },
  },
}

interface World {
  readonly name: string
  send(method: string, path: string, body?: JsonValue, token?: string): Promise<Reply>
  /** What a stream of an endpoint sends first. */
  first(path: string): Promise<string>
  /** Guids, tokens and addresses, which differ in each world, by what they are. */
  readonly known: Map<string, string>
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly body: JsonValue | undefined
}

const words = ['ash', 'birch', 'cedar', 'doum', 'elm', 'fir', 'gum', 'holly']
const people = ['ann', 'ben', 'cleo', 'dan']
const wordOf = (a: number) => words[a % words.length] ?? ''
const personOf = (a: number) => people[a % people.length] ?? ''
/** One of four is wrong. */
const passwordOf = (b: number) => (b % 4 === 0 ? 'a wrong password' : 'a good password')

/** Without what differs each time: guids, times, secrets. */
function shown({ status, text }: Pick<Reply, 'status' | 'text'>): string {
  const plain = text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '<guid>')
    .replace(/"(?:created|updated|cms|ums|update_hash|hash|at|until|next_at|seed_at)":[^,}]+/g, '')
  return `${status} ${plain}`
}

/** The status, and of the reply what is chosen. */
function chosen(reply: Reply, choose: (body: JsonValue | undefined) => unknown): string {
  const { status, body } = reply
  return shown({
    status,
    text: String(status < 300 ? JSON.stringify(choose(body)) : jsonAt(body, 'message')),
  })
}

function numbersIn(body: JsonValue | undefined): readonly unknown[] {
  return isJsonObject(body) ? Object.entries(body).filter(([, one]) => typeof one === 'number') : []
}

const application = (version: number): JsonObject => ({
  about: { name: 'app' },
  blueprints: {
    app: {
      name: 'App',
      blocks: { get: get('app'), reply: { type: 'reply', in: { flow: '@get.flow', value: version } } },
    },
  },
  ...{ storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
})

async function signedIn({ send }: World, a: number, b: number) {
  const sent = { username: personOf(a), password: passwordOf(b) }
  const { status, body } = await send('POST', '/auth/signin', sent)
  return { status, token: status === 200 ? String(jsonAt(body, 'access_token')) : 'none' }
}

type Operation = (world: World, a: number, b: number) => Promise<string>

/** Each of a person or a program. */
const operations: Readonly<Record<string, Operation>> = {
  add: async ({ send }, a, b) => shown(await send('POST', '/items', { word: wordOf(a), size: b % 10 })),
  /** The third time it may be a cached reply. */
  list: async ({ send }, _a, b) => {
    const replies: string[] = []
    for (let time = 0; time < 3; time++) replies.push(shown(await send('GET', `/items?least=${b % 2}`)))
    return replies.join()
  },
  stream: async ({ first }) => first('/items?least=0'),
  change: async ({ send, known }, _a, b) => {
    const path = `/_system/storages/${known.get('items')}/documents/update-many`
    const filters = { size: { lt: 5 } }
    const reply = await send('POST', path, { set: { size: b % 10 }, filters })
    known.set('run', String(jsonAt(reply.body, 'run') ?? 'none'))
    return chosen(reply, (body) => jsonAt(body, 'count'))
  },
  undo: async ({ send, known }) => {
    const reply = await send('POST', `/runs/${known.get('run') ?? 'none'}/undo`, {})
    return chosen(reply, numbersIn)
  },
  user: async ({ send }, a) =>
    shown(await send('POST', '/users', { username: personOf(a), password: passwordOf(1) })),
  'sign in': async (world, a, b) => String((await signedIn(world, a, b)).status),
  'sign out': async (world, a) => {
    const { token } = await signedIn(world, a, 1)
    return shown(await world.send('POST', '/auth/signout', undefined, token))
  },
  factors: async (world, a) => {
    const { token } = await signedIn(world, a, 1)
    const begun = await world.send('POST', '/users/me/second-factor', undefined, token)
    const seen = await world.send('GET', '/users/me/second-factor', undefined, token)
    return `${begun.status} ${shown(seen)}`
  },
  users: async ({ send }) =>
    chosen(await send('POST', '/users/search', { sort: [{ username: 'asc' }] }), (body) =>
      objectsOf(body).map(({ username }) => username),
    ),
  key: async ({ send, known }, a) => {
    const reply = await send('POST', '/users/me/keys', { name: wordOf(a), scopes: ['users_view'] })
    const key = jsonAt(reply.body, 'key')
    if (typeof key === 'string') known.set(`key ${wordOf(a)}`, key)
    return String(reply.status)
  },
  'use key': async ({ send, known }, a) =>
    String((await send('POST', '/users/search', {}, known.get(`key ${wordOf(a)}`) ?? 'none')).status),
  setting: async ({ send }, _a, b) =>
    shown(await send('PUT', '/_system/settings/QUOIN_KEEP_LOGS', { value: String(1 + (b % 30)) })),
  value: async ({ send }, a, b) =>
    shown(await send('POST', '/_system/environment', { name: wordOf(a).toUpperCase(), value: b })),
  push: async ({ send }, _a, b) => {
    const plan = await send('POST', '/_system/applications/plan', { application: application(b % 3) })
    const state = jsonAt(plan.body, 'state') ?? ''
    const pushed = await send('POST', '/_system/applications/push', {
      application: application(b % 3),
      state,
    })
    return chosen(pushed, (body) => jsonAt(body, 'release', 'number') ?? jsonAt(body, 'release') ?? 'none')
  },
  app: async ({ send }) => shown(await send('GET', '/app')),
  releases: async ({ send }) =>
    chosen(await send('GET', '/_system/applications/app/releases'), (body) =>
      objectsOf(body).map(({ number }) => number),
    ),
  draft: async ({ send }, a, b) => {
    const changes = [{ path: `tests/${wordOf(a)}.test.json`, text: `${b}` }]
    const reply = await send('POST', '/_system/drafts', { application: 'app', changes })
    return chosen(reply, (body) => jsonAt(body, 'paths'))
  },
  drafts: async ({ send }) =>
    chosen(await send('GET', '/_system/drafts'), (body) =>
      objectsOf(body).map(({ application: name, paths }) => [name, paths]),
    ),
  job: async ({ send }) => shown(await send('POST', '/later', {})),
  jobs: async ({ send }) =>
    chosen(await send('POST', '/queue/search', { limit: 1_000 }), (body) =>
      objectsOf(body)
        .map(({ title, status }) => `${title} ${status}`)
        // Those of events end behind the reply that has made them.
        .filter((one) => one.includes('nothing')),
    ),
  schedules: async ({ send }) =>
    chosen(await send('GET', '/queue/schedules'), (body) =>
      objectsOf(body).map(({ title, every }) => [title, every]),
    ),
  wait: async ({ send, known }, a) => {
    const reply = await send('GET', '/waiting')
    if (reply.status === 200) known.set(`wait ${a % 3}`, String(reply.body))
    return String(reply.status)
  },
  continue: async ({ send, known }, a) => {
    const address = known.get(`wait ${a % 3}`) ?? '/api/v1/_hooks/none?token=none'
    return shown(await send('POST', address.replace(/^.*\/api\/v1/, ''), { from: 'a hook' }))
  },
  'write a file': async ({ send }, a, b) =>
    shown(await send('POST', '/files', { name: `${wordOf(a % 3)}.txt`, content: `${b}` })),
  'read a file': async ({ send }, a) => {
    const { status, text } = await send('GET', `/files?name=${wordOf(a % 3)}.txt`)
    return status === 200 ? `200 ${text}` : String(status)
  },
}
const names = Object.keys(operations)

/** Of the space, or of the server alone that listens there. */
async function openWorld(name: string, port: number, host: string): Promise<World> {
  const ask = askAt(port)
  let own = ''
  const send: World['send'] = (method, path, body, token = own) => {
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    return ask(host, method, `/api/v1${path}`, headers, body)
  }
  const { body } = await send('POST', '/auth/signin', { username: 'admin', password: adminPassword })
  own = String(jsonAt(body, 'access_token'))
  return {
    ...{ name, send, known: new Map() },
    async first(path) {
      const headers = { host, accept: 'text/event-stream' }
      const sent = request({ host: '127.0.0.1', port, path: `/api/v1${path}`, headers }).end()
      const [reply]: IncomingMessage[] = await once(sent, 'response')
      let text = ''
      for await (const chunk of reply ?? []) {
        text += String(chunk)
        if (/^data:.*\n\n/m.test(text)) break
      }
      return `${reply?.statusCode} ${/^data:.*$/m.exec(text)?.[0]}`
    },
  }
}

async function prepare(world: World, install: TestQuoin['install']): Promise<void> {
  const made = await world.send('POST', '/_system/storages', { name: 'items', history: true })
  world.known.set('items', guidOf(made.body))
  await world.send('POST', '/_system/storages', { name: 'noted' })
  const field = { name: 'word', type: 'string', storage: 'items', unique: true }
  await world.send('POST', '/blueprintfields', field)
  await install('Lists', lists)
  const blueprint = await install('Items', blocks)
  const tracing = { on: true, minutes: 600, keep_last: 200, record_one_in: 1 }
  await world.send('PUT', `/blueprints/${blueprint}/tracing`, tracing)
  world.known.set('blueprint', blueprint)
}

/** What is written behind replies: events, and runs with their recorded requests. */
async function behind({ send, known }: World): Promise<unknown> {
  const { body: noted } = await send('GET', '/noted')
  const runs = await send('GET', `/runs?blueprint=${known.get('blueprint')}&limit=200`)
  const compared = await send('POST', `/blueprints/${known.get('blueprint')}/compare`, { state: 'saved' })
  const labels = objectsOf(runs.body).map(({ label, status }) => `${label} ${status}`)
  return [noted, labels.toSorted(), compared.status, numbersIn(compared.body)]
}

let place: AssetPlace
let cluster: TestCluster
const alone: TestQuoin[] = []
const worlds: { readonly shared: World; readonly own: World }[] = []
beforeAll(async () => {
  place = await openAssetPlace()
  /** Files of no other server. */
  const settingsOf = (name: string) => {
    const { QUOIN_ASSETS_URL: url } = place.settings
    const more = { QUOIN_RATE_LIMIT: '0', QUOIN_SECRETS_KEY: '0f'.repeat(32) }
    if (url === undefined) return more
    const own = new URL(url)
    own.pathname = `${own.pathname.replace(/\/$/, '')}/${name}`
    return { ...more, QUOIN_ASSETS_URL: own.href }
  }
  cluster = await openTestCluster(settingsOf('cluster'))
  for (const name of ['red', 'blue']) {
    const space = await cluster.addSpace(name)
    const quoin = await openTestQuoin(settingsOf(name))
    alone.push(quoin)
    const port = Number(new URL(await quoin.quoin.server.listen()).port)
    const shared = await openWorld(name, cluster.port, space.host)
    const own = await openWorld(`${name} alone`, port, '127.0.0.1')
    await prepare(shared, space.install)
    await prepare(own, quoin.install)
    worlds.push({ shared, own })
  }
})
afterAll(async () => {
  for (const quoin of alone) await quoin.close()
  await cluster?.close()
  await place?.close()
})

function worldAt(which: number) {
  const world = worlds[which]
  if (!world) throw new Error('There are two worlds.')
  return world
}

/** Of all seeds. */
const succeeded = new Set<string>()
test.each(seeds)('seed %d, %d steps: each space replies as if it were alone', async (seed, steps) => {
  const random = seededRandom(seed)
  const bytes = new Uint8Array(4)
  const done: {
    readonly which: number
    readonly name: string
    readonly reply: string
    readonly numbers: [number, number]
  }[] = []
  for (let at = 0; at < steps; at++) {
    random(bytes)
    const [which = 0, kind = 0, a = 0, b = 0] = bytes
    const name = names[kind % names.length] ?? ''
    const { shared } = worldAt(which % 2)
    const reply = await operations[name]?.(shared, a, b)
    done.push({ which: which % 2, name, reply: String(reply), numbers: [a, b] })
    if (/^2/.test(String(reply))) succeeded.add(name)
  }
  // Not in turns with them: what the process shares would be the same for both.
  for (const [which, { own }] of worlds.entries()) {
    const before: string[] = []
    for (const { name, reply, numbers } of done.filter((one) => one.which === which)) {
      before.push(`${name} ${numbers.join(' ')}`)
      expect(reply, `seed ${seed}, ${own.name}: ${before.slice(-12).join('; ')}`).toBe(
        await operations[name]?.(own, ...numbers),
      )
    }
  }
  const statuses = new Set(done.map(({ reply }) => reply.slice(0, 3)))
  // Both ways were taken: what is stored, and what is refused because of what is there.
  expect([...statuses]).toEqual(expect.arrayContaining(['200', '401', '404', '409']))
  // At the end each has its own, and not that of the other.
  for (const { shared, own } of worlds) {
    for (const name of names.filter((one) =>
      /^(list|users|releases|drafts|jobs|schedules|stream|app)$/.test(one),
    ))
      expect(await operations[name]?.(shared, 0, 0), `${seed}, ${name} at the end`).toBe(
        await operations[name]?.(own, 0, 0),
      )
    await expect.poll(() => behind(shared)).toEqual(await behind(own))
  }
})

test('control: each operation was done', () => {
  const missed = names.filter((name) => !succeeded.has(name))
  // Fewer steps are done there.
  expect(onPostgres ? missed.slice(6) : missed).toEqual([])
})
