/**
 * An application of five blueprints as a team owns it: a folder with tests, pushed to a second cluster of two nodes on PostgreSQL by two
 * commands. A field that many documents have is renamed there while requests go to both nodes, and the release is taken back: no request
 * fails, and no value is lost. A draft is compared with recorded requests before it is released. `docs/applications.md` tells it.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import {
  adminPassword,
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  type RunningProcess,
  startProcess,
  type TestQuoin,
} from '../end-to-end/harness.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { callNode } from './call-node.ts'

/** Ten batches of the job that follows them; `npm run torture` renames a field of 100,000. */
const DOCUMENTS = inject('thorough') ? 100_000 : 2_000
/** Of each node, with a pause in milliseconds behind each round: the job that follows them goes on meanwhile. */
const [CLIENTS, PAUSE] = [2, 100]
/** Of each client, also where the change is over sooner. */
const LEAST_ROUNDS = 3
const RECORDED = 200

let development: TestQuoin
let temporary: TemporaryDatabase
let directory: string
let folder: string
let nodes: readonly RunningProcess[] = []
let token: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-promoted-'))
  folder = join(directory, 'desk')
  development = await openTestQuoin()
  temporary = await openTemporaryDatabase(quoinTemplate)
  const start = (name: string) =>
    startProcess(join(directory, name), {
      QUOIN_NODE: name,
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_EXAMPLES: '0',
      QUOIN_RATE_LIMIT: '0',
      DATABASE_URL: temporary.url,
    })
  nodes = [await start('a'), await start('b')]
  const body = { username: 'admin', password: adminPassword }
  const signedIn = await callNode(nodes[0]?.address ?? '', '/auth/signin', { method: 'POST', body })
  token = String(objectOf(signedIn.body).access_token)
}, 120_000)
afterAll(async () => {
  for (const node of nodes) await node.end('SIGKILL')
  await development?.close()
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
})

const endpoint = (
  method: string,
  uri: string,
  steps: JsonObject,
  value: JsonValue,
  flow: string,
): JsonObject => ({
  name: `Desk: ${method} ${uri}`,
  blocks: {
    on: { type: `on_startup_register_uri_${method}`, in: { uri }, scopes: ['*public'] },
    ...steps,
    reply: { type: 'httpconnection_set_json', in: { flow, value } },
  },
})
const storage = 'tickets'
const shown = (document: string, field: string) =>
  `={ guid: ${document}._meta.guid, title: ${document}.${field} }`

/** Clients always see `title`, whatever the field is called. */
const blueprints = (field: string): Readonly<Record<string, JsonObject>> => ({
  open: endpoint(
    'post',
    'desk/tickets',
    {
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@on.flow', storage, set: `={ ${field}: body.title, state: 'open' }` },
      },
    },
    shown('create.document', field),
    '@create.flow',
  ),
  read: endpoint(
    'get',
    'desk/tickets/{guid}',
    { get: { type: 'function_get_document', in: { flow: '@on.flow', storage, guid: '=params.guid' } } },
    shown('get.document', field),
    '@get.flow',
  ),
  list: endpoint(
    'get',
    'desk/tickets',
    { search: { type: 'function_search', in: { flow: '@on.flow', storage, sort: field, limit: 20 } } },
    `=search.documents.map(one => one.${field})`,
    '@search.flow',
  ),
  find: endpoint(
    'get',
    'desk/find',
    {
      search: {
        type: 'function_search',
        in: { flow: '@on.flow', storage, where: `=doc.${field} == query.title`, limit: 2 },
      },
    },
    `=search.documents.map(one => one.${field})`,
    '@search.flow',
  ),
  close: endpoint(
    'put',
    'desk/tickets/{guid}',
    {
      update: {
        type: 'function_update_document_mutations',
        in: {
          flow: '@on.flow',
          storage,
          guid: '=params.guid',
          set: `={ ${field}: body.title, state: 'closed' }`,
        },
      },
    },
    shown('update.document', field),
    '@update.flow',
  ),
})

async function writeDesk(field: string, more: JsonObject = {}): Promise<void> {
  const named = Object.entries(blueprints(field)).map(
    ([name, file]) => [`blueprints/${name}.json`, file] as const,
  )
  const files: Readonly<Record<string, JsonObject>> = {
    'quoin.json': { name: 'desk', title: 'Help desk', version: field },
    ...Object.fromEntries(named),
    'storages/tickets.json': {
      fields: {
        [field]: { ...more, type: 'string', required: true },
        state: { type: 'choice', validation_rules: { choices: ['open', 'closed'] } },
      },
    },
    'queues.json': { queues: { mails: { concurrency: 2 } } },
    'tests/open.test.json': {
      name: 'A ticket is opened, found and closed',
      steps: [
        {
          request: 'POST /desk/tickets',
          body: { title: 'Broken lamp' },
          expect: { status: 200, body: { title: 'Broken lamp' } },
        },
        { request: 'GET /desk/find?title=Broken%20lamp', expect: { status: 200, body: ['Broken lamp'] } },
        { request: 'GET /desk/tickets', expect: { status: 200, body: ['Broken lamp'] } },
      ],
    },
  }
  for (const [path, file] of Object.entries(files)) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), JSON.stringify(file))
  }
}

async function command(...words: string[]): Promise<string> {
  const { code, printed, complained } = await quoinCommand(words, { QUOIN_TOKEN: token })
  expect([words[0], code, code === 0 ? '' : printed + complained]).toEqual([words[0], 0, ''])
  return printed
}
const onCluster = (...words: string[]) => command(...words, '--url', nodes[0]?.address ?? '')

const manage = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue) => {
  const reply = await callNode(nodes[0]?.address ?? '', path, {
    method,
    token,
    ...(body !== undefined && { body }),
  })
  expect([path, reply.status]).toEqual([path, 200])
  return reply.body
}

async function ticketsPath(): Promise<string> {
  const [record] = objectsOf(await manage('POST', '/_system/storages/search', { filters: { name: storage } }))
  return `/_system/storages/${guidOf(record)}/documents`
}

async function importTickets(): Promise<void> {
  const lines = Array.from({ length: DOCUMENTS }, (_, at) =>
    JSON.stringify({ title: `Ticket ${String(at).padStart(6, '0')}`, state: 'open' }),
  )
  const reply = await fetch(`${nodes[0]?.address}/api/v1${await ticketsPath()}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body: `${lines.join('\n')}\n`,
  })
  expect([reply.status, reply.ok || (await reply.text())]).toEqual([200, true])
}

interface Load {
  readonly requests: number
  /** Each that was not answered as it must be. */
  readonly failed: readonly string[]
  /** The title that each ticket of the load was last given, and was answered with. */
  readonly titles: ReadonlyMap<string, string>
}

/** What clients of both nodes do, until the work has ended. */
async function whileClientsWork(work: () => Promise<unknown>): Promise<Load> {
  let isOver = false
  let requests = 0
  const failed: string[] = []
  const titles = new Map<string, string>()
  const client = async (address: string, name: string) => {
    const ask = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue) => {
      const reply = await callNode(address, path, { method, ...(body !== undefined && { body }) })
      requests += 1
      if (reply.status !== 200)
        failed.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    }
    const expectTitle = (what: string, found: JsonValue | undefined, title: string) => {
      if (JSON.stringify(found) !== JSON.stringify(title))
        failed.push(`${what}: ${JSON.stringify(found)}, not ${title}`)
    }
    for (let round = 0; !isOver || round < LEAST_ROUNDS; round++) {
      const title = `${name} ${round}`
      const opened = objectOf((await ask('POST', '/desk/tickets', { title })) ?? {})
      expectTitle('opened', opened.title, title)
      const path = `/desk/tickets/${String(opened.guid)}`
      expectTitle('read', objectOf((await ask('GET', path)) ?? {}).title, title)
      const [found] = [(await ask('GET', `/desk/find?title=${encodeURIComponent(title)}`)) ?? []].flat()
      expectTitle('found', found, title)
      const closed = objectOf((await ask('PUT', path, { title: `${title} closed` })) ?? {})
      expectTitle('closed', closed.title, `${title} closed`)
      titles.set(String(opened.guid), `${title} closed`)
      const listed = await ask('GET', '/desk/tickets')
      const isWhole =
        Array.isArray(listed) && listed.length === 20 && listed.every((one) => typeof one === 'string')
      if (!isWhole) failed.push(`listed: ${JSON.stringify(listed)}`)
      await wait(PAUSE)
    }
  }
  const clients = nodes.flatMap(({ address }, node) =>
    Array.from({ length: CLIENTS }, (_, at) => client(address, `client ${Date.now()} ${node} ${at}`)),
  )
  await work().finally(() => {
    isOver = true
  })
  await Promise.all(clients)
  return { requests, failed, titles }
}

/** So many requests for one ticket, recorded on the cluster. */
async function recordReads(tickets: readonly string[]): Promise<void> {
  const filters = { name: 'Desk: get desk/tickets/{guid}' }
  const [blueprint] = objectsOf(await manage('POST', '/blueprints/search', { filters }))
  const tracing = { on: true, keep_last: RECORDED }
  await manage('PUT', `/blueprints/${guidOf(blueprint ?? {})}/tracing`, tracing)
  const list = `/runs?blueprint=${guidOf(blueprint ?? {})}&limit=${RECORDED}`
  // A node that has too many waiting traces leaves some out.
  for (let recorded = 0; recorded < RECORDED; recorded = objectsOf(await manage('GET', list)).length)
    for (let at = 0; at < RECORDED - recorded; at++)
      await callNode(nodes[at % 2]?.address ?? '', `/desk/tickets/${tickets[at % tickets.length]}`, {})
  await manage('PUT', `/blueprints/${guidOf(blueprint ?? {})}/tracing`, { on: false, keep_last: RECORDED })
}

/** Every ticket has its title under this name: those that were imported, and those of clients as they were last answered. */
async function expectTitles(field: string, clients: readonly Load[]): Promise<void> {
  const expected = new Map(clients.flatMap(({ titles }) => [...titles]))
  const path = await ticketsPath()
  let imported = 0
  let after: string | null = null
  do {
    const reply = await callNode(nodes[1]?.address ?? '', `${path}/search`, {
      ...{ method: 'POST', token },
      body: { limit: 1_000, ...(after !== null && { after }) },
    })
    for (const one of objectsOf(reply.body)) {
      const title = expected.get(guidOf(one))
      if (title === undefined) imported += /^Ticket \d{6}$/.test(String(one[field])) ? 1 : 0
      else if (one[field] !== title) expect([guidOf(one), one[field]]).toEqual([guidOf(one), title])
    }
    after = reply.header('x-next-cursor')
  } while (after !== null)
  expect(imported).toBe(DOCUMENTS)
}

test('a folder is tested, pushed by two commands, changed under load and taken back, without a failed request', async () => {
  await writeDesk('title')
  await command('check', folder)
  await command('test', folder)
  // Developed on a cluster of its own, on the other engine where that is SQLite.
  const base = await development.quoin.server.listen()
  const { code } = await quoinCommand(['push', folder, '--yes', '--url', base], {
    QUOIN_TOKEN: await development.tokenOf('admin'),
  })
  expect(code).toBe(0)
  const pulled = join(directory, 'pulled')
  await quoinCommand(['pull', 'desk', pulled, '--url', base], {
    QUOIN_TOKEN: await development.tokenOf('admin'),
  })

  // To the second cluster, by two commands.
  expect(await onCluster('plan', pulled)).toContain('created blueprints/close.json')
  expect(await onCluster('push', pulled, '--yes')).toContain('Release 1 of desk is live.')
  await importTickets()

  await writeDesk('subject', { was: 'title' })
  await command('test', folder)
  const plan = await onCluster('plan', folder)
  expect(plan).toContain(`${DOCUMENTS} documents of tickets get their value of title as subject`)
  expect(plan).not.toContain('breaks: ')
  const renaming = await whileClientsWork(() => onCluster('push', folder, '--yes'))
  expect(renaming.failed).toEqual([])
  expect(renaming.requests).toBeGreaterThan(50)
  await expectTitles('subject', [renaming])

  const takingBack = await whileClientsWork(() => onCluster('rollback', 'desk', '--yes'))
  expect(takingBack.failed).toEqual([])
  await expectTitles('title', [renaming, takingBack])
  expect(await onCluster('releases', 'desk')).toMatch(/^3\t.*\n2\t.*\n1\t/)
  await onCluster('drift', pulled)

  // A draft that changes a reply, compared with what clients asked for.
  await recordReads([...renaming.titles.keys()])
  await writeDesk('title')
  const file = objectOf(JSON.parse(await readFile(join(folder, 'blueprints/read.json'), 'utf8')))
  const louder = JSON.stringify(file).replace('get.document.title', 'upper(get.document.title)')
  await writeFile(join(folder, 'blueprints/read.json'), louder)
  const verified = ['push', folder, '--yes', '--verify', String(RECORDED), '--url', nodes[0]?.address ?? '']
  const refused = await quoinCommand(verified, { QUOIN_TOKEN: token })
  const [, key = ''] =
    /^differs (\S+): blueprints\/read.json GET desk\/tickets\/\{guid\}: value at title /m.exec(
      refused.printed,
    ) ?? []
  expect([refused.code, key]).toEqual([1, expect.stringMatching(/^[0-9a-f]{16}$/)])
  expect(await onCluster('releases', 'desk')).not.toMatch(/^4\t/m)
  expect(await command(...verified, '--accept', key)).toContain(
    `verified blueprints/read.json: ${RECORDED} recorded runs compared, 0 end the same, 1 accepted differences`,
  )
  expect(await onCluster('releases', 'desk')).toMatch(/^4\t/m)
}, 300_000)
