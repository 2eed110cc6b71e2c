/**
 * Tests of flows share a cluster that is set back between them. Each test of the table leaves behind what it can, and behind each of
 * them the cluster is what it is where it was opened for that test alone, in any order.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordingTerminal } from '../../../test/recording-terminal.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type RunOptions, runScenario } from './run-scenario.ts'
import {
  type InstalledApplication,
  installApplication,
  type ScenarioCluster,
  takeCluster,
} from './scenario-cluster.ts'
import { readScenario, type Scenario } from './scenario-file.ts'

const endpoint = (uri: string, type = 'post') => ({
  type: `on_startup_register_uri_${type}`,
  in: { uri },
  scopes: ['*public'],
})
const create = (flow: string, storage: string, set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage, set },
})
const reply = (flow: string, value: string) => ({ type: 'reply', in: { flow, value } })

/** A flow for each kind of thing that a cluster remembers: in its database, and only in memory. */
const everything: JsonObject = {
  name: 'Everything',
  fields: [
    { storage: 'things', name: 'number', type: 'autonumber' },
    { storage: 'things', name: 'code', type: 'string', unique: true },
  ],
  blocks: {
    add: { ...endpoint('things'), in: { uri: 'things', idempotency_key: '=body.key' } },
    added: create(
      '@add.flow',
      'things',
      '={ code: body.code, at: now(), token: randomToken(), by: env.WHO }',
    ),
    stored: reply('@added.flow', '=added.document'),
    list: endpoint('things', 'get'),
    found: {
      type: 'function_search',
      in: { flow: '@list.flow', storage: 'things', cache_key: 'things', cache_seconds: 3600 },
    },
    listed: reply('@found.flow', '={ codes: found.documents.map(d => d.code), cached: found.from_cache }'),
    count: endpoint('count', 'get'),
    counted: { type: 'function_search', in: { flow: '@count.flow', storage: 'things' } },
    told: reply('@counted.flow', '=length(counted.documents)'),
    created: { type: 'storage_event', in: { storage: 'things', events: ['on_created'] } },
    noted: create('@created.flow', 'events', '={ code: created.document.code }'),
    break: endpoint('break'),
    broken: { type: 'fail', in: { flow: '@break.flow', status: 502, message: 'as planned' } },
    failed: { type: 'failure_event', in: { events: ['on_run_failed', 'on_job_dead'] } },
    reported: create('@failed.flow', 'failures', '={ message: failed.message, count: failed.count }'),
    try: endpoint('try'),
    tries: { type: 'limit', in: { flow: '@try.flow', limit: 2, window: '1d' }, fields: { per: 'address' } },
    tried: reply('@tries.flow', '=tries.remaining'),
    call: endpoint('call'),
    send: {
      type: 'http_request',
      in: { flow: '@call.flow', url: 'https://other.example/rate' },
      fields: { keep_seconds: 3600 },
    },
    sent: reply('@send.flow', '={ body: send.body, cached: send.from_cache }'),
    ask: endpoint('ask'),
    wait: { type: 'wait_for_approval', in: { flow: '@ask.flow', for: '2d', title: 'Go', scopes: ['go'] } },
    asked: reply('@wait.now', 'waits'),
    approved: create('@wait.approved', 'decisions', '={ approved: true, at: now() }'),
    overdue: create('@wait.timeout', 'decisions', '={ approved: false, at: now() }'),
    hourly: { type: 'schedule_repeating_event', in: { cron: '0 * * * *' } },
    struck: create('@hourly.flow', 'hours', '={ at: hourly.planned_at }'),
    later: endpoint('later'),
    queued: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@later.flow', function: 'never' },
    },
    accepted: reply('@queued.flow', 'later'),
    never: { type: 'trigger_custom_function', fields: { name: 'never' } },
    refused: { type: 'fail', in: { flow: '@never.flow', status: 500, message: 'never' } },
    mail: endpoint('mail'),
    title: { type: 'state_text', in: { text: 'Hello' } },
    write: {
      type: 'send_mail',
      in: { flow: '@mail.flow', to: 'a@b.example', subject: 'Hello', state: '@title.state' },
    },
    mailed: reply('@write.flow', 'sent'),
    upload: endpoint('files'),
    written: {
      type: 'write_file',
      in: { flow: '@upload.flow', content: '=body.text', name: 'a.txt', directory: 'notes' },
    },
    uploaded: reply('@written.flow', '=written.file'),
    files: endpoint('files', 'get'),
    listing: { type: 'list_files', in: { flow: '@files.flow', directory: 'notes' } },
    lists: reply('@listing.flow', '=listing.files.map(f => f.size)'),
    sign: endpoint('sign'),
    signed: {
      type: 'check_signature',
      in: { flow: '@sign.flow', secret: 'KEY' },
      fields: { sender: 'github' },
    },
    signs: reply('@signed.valid', 'signed'),
    follow: { ...endpoint('follow', 'get') },
    following: { type: 'subscribe', in: { flow: '@follow.flow', channel: 'news' } },
  },
}

const add = (code: string, more: JsonObject = {}) => ({ request: 'POST /things', body: { code, ...more } })
const list = { request: 'GET /things' }
const now = '2026-03-01T08:30:00Z'

const scenarios: readonly (JsonObject & { readonly name: string; readonly steps: JsonValue[] })[] = [
  { name: 'nothing', steps: [{ expect: {} }] },
  { name: 'documents', steps: [add('a'), add('b'), { request: 'GET /count', expect: { body: 2 } }] },
  { name: 'the same documents later', given: { now: '2027-01-01T00:10:00Z' }, steps: [add('a'), add('c')] },
  { name: 'documents that were there', given: { documents: { things: [{ code: 'z' }] } }, steps: [add('y')] },
  { name: 'a cached search', steps: [add('q'), list, { ...list, expect: { body: { cached: true } } }] },
  {
    name: 'a search that nothing has cached',
    steps: [{ ...list, expect: { body: { codes: [], cached: false } } }],
  },
  {
    name: 'a cached reply',
    steps: [{ request: 'GET /count' }, { request: 'GET /count', expect: { body: 0 } }],
  },
  { name: 'a key that was used', steps: [add('i', { key: 'k1' }), add('i', { key: 'k1' })] },
  {
    name: 'the same key',
    steps: [add('j', { key: 'k1' }), { expect: { documents: { things: [{ code: 'j' }] } } }],
  },
  { name: 'failures', steps: [{ request: 'POST /break' }, { request: 'POST /break' }, { advance: '2m' }] },
  {
    name: 'a failure',
    given: { now },
    steps: [{ request: 'POST /break', expect: { documents: { failures: 1 } } }],
  },
  { name: 'the same failure', steps: [{ request: 'POST /break', expect: { documents: { failures: 1 } } }] },
  { name: 'a limit', steps: [1, 0].map((body) => ({ request: 'POST /try', expect: { body } })) },
  {
    name: 'a call',
    given: { replies: [{ to: 'GET https://other.example/rate', body: 1 }] },
    steps: [{ request: 'POST /call' }],
  },
  {
    name: 'another call',
    given: { replies: [{ to: 'GET https://other.example/rate', body: 2 }] },
    steps: [{ request: 'POST /call', expect: { body: { body: 2, cached: false }, calls: [{}] } }],
  },
  { name: 'a wait', steps: [{ request: 'POST /ask', expect: { waits: 1 } }] },
  { name: 'an approval', steps: [{ request: 'POST /ask' }, { approve: 'Go' }] },
  { name: 'a wait that is over', given: { now }, steps: [{ request: 'POST /ask' }, { advance: '3d' }] },
  {
    name: 'hours',
    given: { now: '2026-01-01T00:10:00Z' },
    steps: [{ advance: '5h', expect: { documents: { hours: 5 } } }],
  },
  { name: 'a tick', steps: [{ tick: 'hourly' }] },
  { name: 'a dead letter', steps: [{ request: 'POST /later' }, { advance: '1d', expect: { dead: 1 } }] },
  { name: 'a job that is tried again', steps: [{ request: 'POST /later' }] },
  { name: 'a mail', steps: [{ request: 'POST /mail', expect: { mails: [{ subject: 'Hello' }] } }] },
  {
    name: 'users and values',
    given: { users: [{ username: 'ann', scopes: ['x'] }], env: { WHO: 'ann' } },
    steps: [
      { ...add('u'), as: 'ann' },
      { ...list, as: 'ann' },
    ],
  },
  {
    name: 'the same user and another value',
    given: { users: [{ username: 'ann' }], env: { WHO: 'bob' } },
    steps: [add('u')],
  },
  {
    name: 'a secret',
    given: { secrets: { KEY: 'a key' } },
    steps: [{ request: 'POST /sign', expect: { status: 401 } }],
  },
  { name: 'no secret', steps: [{ request: 'POST /sign', expect: { status: 500 } }] },
  {
    name: 'a connection',
    given: { connections: [{ name: 'other', base_url: 'https://other.example' }] },
    steps: [add('o')],
  },
  {
    name: 'a file',
    steps: [
      { request: 'POST /files', body: { text: 'one' } },
      { request: 'GET /files', expect: { body: [3] } },
    ],
  },
  {
    name: 'a file of the same name',
    steps: [{ request: 'POST /files', body: { text: 'two' }, expect: { status: 200 } }],
  },
  { name: 'no file', steps: [{ request: 'GET /files', expect: { body: [] } }] },
  { name: 'Quoin itself', steps: [{ request: 'GET /info' }] },
  { name: 'a test that fails', steps: [add('f'), { expect: { documents: { things: 7 } } }] },
  { name: 'a test that breaks off', steps: [add('f'), { approve: 'None' }] },
]

let folder: string
let application: InstalledApplication
let fresh: ReadonlyMap<string, unknown>

async function readAll(): Promise<Scenario[]> {
  const all: Scenario[] = []
  for (const [at, scenario] of scenarios.entries()) {
    const file = join(folder, `${at}.test.json`)
    await writeFile(file, JSON.stringify(scenario))
    all.push(await readScenario(file))
  }
  return all
}

/** What depends on the real clock, and what a test cannot see. */
const unseen: ReadonlySet<string> = new Set([
  systemStorages.systemLogs,
  systemStorages.userLogs,
  systemStorages.auditLogs,
  systemStorages.auditChain,
  systemStorages.auditCheckpoints,
  systemStorages.runs,
  systemStorages.samples,
  systemStorages.figures,
])

/** All documents, jobs, mails and calls. */
async function contentOf({ quoin, mails, calls }: ScenarioCluster): Promise<unknown> {
  const { database } = quoin
  const content: unknown[] = [[...mails], [...calls.calls.map(({ to, body }) => ({ to, body }))]]
  const all = search({ query: matchAll, limit: 1_000, includeRemoved: true })
  for (const name of database.names().toSorted())
    if (!unseen.has(name)) content.push([name, documentsOf(await database.session().find(name, all))])
  content.push((await database.capabilities.jobs.search(all)).records)
  return withoutGuids(content)
}

/**
 * Guids as the numbers of their first places, for they depend on when a log was stored, which is written each 200 ms of the real clock.
 * An update hash and the owner of a lease are nothing but such.
 */
function withoutGuids(content: unknown): unknown {
  const numbers = new Map<string, string>()
  const text = JSON.stringify(content, (key, value) => (key === 'owner' ? undefined : value))
  return JSON.parse(
    text
      .replaceAll(/(update_hash\W+)[0-9a-f]+/g, '$1')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (guid) => {
        const number = numbers.get(guid) ?? `guid ${numbers.size}`
        numbers.set(guid, number)
        return number
      }),
  )
}

/** `left`: whether the cluster of this test is that of the next one. */
async function ran(scenario: Scenario, options: RunOptions): Promise<{ result: unknown; left: boolean }> {
  const seen: { cluster?: ScenarioCluster; content?: unknown } = {}
  const ended = async (cluster: ScenarioCluster) => {
    seen.cluster = cluster
    seen.content = await contentOf(cluster)
  }
  const { failures } = await runScenario(application, scenario, { ...options, ended })
  const left = seen.cluster !== undefined && seen.cluster === application.idle
  return { result: { failures, content: seen.content }, left }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const file = join(folder, 'everything.blueprint.json')
  await writeFile(file, JSON.stringify(everything))
  application = await installApplication({ blueprints: [file] }, recordingTerminal())
  const results = new Map<string, unknown>()
  for (const scenario of await readAll())
    results.set(scenario.name, (await ran(scenario, { fresh: true })).result)
  fresh = results
})
afterAll(async () => {
  await application?.remove()
  await rm(folder, { recursive: true })
})

test('control: all tests but two pass, and see what they have done', () => {
  const failed = [...fresh].filter(([, result]) => JSON.stringify(result).includes('"failures":["'))
  expect(failed.map(([name]) => name)).toEqual(['a test that fails', 'a test that breaks off'])
  for (const seen of ['"message":"as planned"', '"username":"ann"', '"subject":"Hello"', '"state":"dead"'])
    expect(JSON.stringify([...fresh])).toContain(seen)
})

/** Tests whose cluster no other test gets: it may remember more than is set back. */
const alone: ReadonlySet<string> = new Set([
  'a connection',
  'Quoin itself',
  'a limit',
  'a test that fails',
  'a test that breaks off',
])

test('a test that does not end is not waited for, and the next one has another cluster', async () => {
  const [file, next] = [join(folder, 'endless.test.json'), join(folder, 'next.test.json')]
  const steps = [{ request: 'POST /things', body: { code: 'e' } }, { request: 'GET /follow' }]
  await writeFile(file, JSON.stringify({ name: 'endless', steps }))
  await writeFile(next, JSON.stringify({ name: 'next', steps: [{ expect: { documents: { things: 0 } } }] }))
  const endless = await runScenario(application, await readScenario(file), { longest: 500 })
  expect(endless.failures).toEqual(['it did not end within 0.5 seconds.'])
  expect(application.idle).toBeUndefined()
  expect((await runScenario(application, await readScenario(next))).failures).toEqual([])
})

test('what is due is done at its time, however many jobs follow it', async () => {
  const day = 24 * 60 * 60 * 1_000
  const start = Date.parse('2030-03-01T08:30:00Z')
  const cluster = await takeCluster(application, { now: start, replies: [], live: [] }, false)
  try {
    const { database } = cluster.quoin
    const far = { queue: 'far', kind: 'change', title: 'far', payload: {}, attempts: 1 } as const
    const due = { ...far, title: 'due', runAt: start + day }
    await transact(database, async (session) => {
      await session.enqueue(due)
      for (let made = 0; made < 1_000; made++) await session.enqueue({ ...far, runAt: start + 30 * day })
    })
    await cluster.advance(3 * day)
    const query = { kind: 'term', field: 'title', value: 'due' } as const
    const { records } = await database.capabilities.jobs.search(search({ query, limit: 9 }))
    expect(records.map(({ started }) => started)).toEqual([due.runAt])
  } finally {
    await cluster.close()
  }
})

test('a test that has ended is not closed by its own clock: the next one has its cluster', async () => {
  const file = join(folder, 'clock.test.json')
  await writeFile(file, JSON.stringify({ name: 'clock', steps: [{ request: 'GET /count' }] }))
  const scenario = await readScenario(file)
  let endTime = () => {}
  const wait = (_milliseconds: number, isOver: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      endTime = () => (isOver.aborted ? reject(new Error('over')) : resolve())
    })
  expect((await runScenario(application, scenario, { wait })).failures).toEqual([])
  const { idle } = application
  expect(idle).toBeDefined()
  endTime()
  expect((await runScenario(application, scenario)).failures).toEqual([])
  expect(application.idle).toBe(idle)
})

test('in any order, each test has the results that it has alone, and leaves its cluster to the next one', async () => {
  const all = await readAll()
  const orders = fc.shuffledSubarray(all, { minLength: all.length })
  const property = fc.asyncProperty(orders, async (order) => {
    for (const scenario of order) {
      const { result, left } = await ran(scenario, {})
      expect(result, scenario.name).toEqual(fresh.get(scenario.name))
      expect(left, scenario.name).toBe(!alone.has(scenario.name))
    }
  })
  await fc.assert(property, { numRuns: 4 })
})
