/**
 * Runs that wait, while the processes that run them are killed with SIGKILL: one process on SQLite, two nodes on PostgreSQL.
 * Each run writes before it waits, writes behind the wait, calls another server and writes again. What a run has written
 * to the database is there once; the other server is called at least once, each time with the same guid of the wait.
 */
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { textIn } from '../../src/storage/document-fields.ts'
import { callNode, searchAll } from '../cluster/call-node.ts'
import { installOver } from '../cluster/install-over.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { openVisitor } from '../page-visitor.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase } from '../temporary-database.ts'
import { adminPassword, objectOf, type RunningProcess, startProcess } from './harness.ts'

const CONNECTIONS = 4
/** Two lost attempts of a job leave it one. */
const KILLS = 2

/** Calls of the other server: the guids of waits by the guid of the run's document. */
const calls = new Map<string, string[]>()
let other: LocalServer

beforeAll(async () => {
  other = await startLocalServer((request, response) => {
    const [, id = '', wait = ''] = request.url?.split('/') ?? []
    calls.set(id, [...(calls.get(id) ?? []), wait])
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
afterAll(() => other.close())

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  calls.clear()
})

const writes = (flow: string, step: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'steps', set: `={ id: body.id, step: "${step}", wait: wait.wait }` },
})

const blueprint = (): JsonObject => ({
  name: 'Steps',
  blocks: {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'begin' }, scopes: ['*public'] },
    before: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: 'steps', set: '={ id: body.id, step: "before" }' },
    },
    wait: { type: 'wait', in: { flow: '@before.flow', for: '1s' } },
    accepted: { type: 'reply', in: { flow: '@wait.now', value: '={ wait: wait.wait }' } },
    after: writes('@wait.flow', 'after'),
    call: {
      type: 'http_request',
      in: { flow: '@after.flow', url: `="${other.url}/" + body.id + "/" + wait.wait` },
      fields: { must_succeed: true },
    },
    last: writes('@call.flow', 'last'),

    ask: { type: 'on_startup_register_uri_post', in: { uri: 'ask' }, scopes: ['*public'] },
    approval: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: 'A decision', for: '1h' } },
    asked: { type: 'reply', in: { flow: '@approval.now', value: '={ link: approval.link }' } },
    approved: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@approval.approved', storage: 'steps', set: '={ id: body.id, step: "approved" }' },
    },

    get: { type: 'on_startup_register_uri_get', in: { uri: 'steps' }, scopes: ['*public'] },
    find: { type: 'function_search', in: { flow: '@get.flow', storage: 'steps', limit: 10_000 } },
    found: { type: 'reply', in: { flow: '@find.flow', value: '@find.documents' } },
  },
})

interface Cluster {
  readonly nodes: RunningProcess[]
  start(at: number): Promise<void>
}

async function openCluster(engine: string): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-waits-'))
  closing.push(() => rm(directory, { recursive: true, force: true }))
  const temporary = engine === 'PostgreSQL' ? await openTemporaryDatabase(quoinTemplate) : undefined
  if (temporary) closing.push(() => temporary.drop())
  const nodes: RunningProcess[] = []
  closing.push(async () => {
    for (const node of nodes) await node.end('SIGKILL')
  })
  return {
    nodes,
    async start(at) {
      nodes[at] = await startProcess(join(directory, `${at}`), {
        QUOIN_ADMIN_PASSWORD: adminPassword,
        QUOIN_EXAMPLES: '0',
        QUOIN_ALLOWED_HOSTS: '127.0.0.1',
        QUOIN_RATE_LIMIT: '0',
        ...(temporary && { DATABASE_URL: temporary.url, QUOIN_NODE: `${at}` }),
      })
    },
  }
}

async function signIn({ address }: RunningProcess): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  const reply = await callNode(address, '/auth/signin', { method: 'POST', body })
  return textIn(objectOf(reply.body).access_token)
}

/** Begins runs at the node until it is killed. Gives those that were acknowledged. */
async function storm(node: RunningProcess, round: string): Promise<string[]> {
  const acknowledged: string[] = []
  let killed = false
  let count = 0
  const begin = async () => {
    while (!killed) {
      count += 1
      const id = `${round}-${count}`
      const { status } = await callNode(node.address, '/begin', { method: 'POST', body: { id } })
      if (status === 200) acknowledged.push(id)
      else if (!killed) throw new Error(`${id}: ${status}`)
      // A run needs a processor for longer than its request: without a pause they would pile up.
      await pause(50)
    }
  }
  const kill = async () => {
    // Until the first runs continue, while others begin.
    await pause(1_500 + randomInt(500))
    const ended = node.end('SIGKILL')
    killed = true
    expect(await ended).toBe('SIGKILL')
  }
  await Promise.all([...Array.from({ length: CONNECTIONS }, begin), kill()])
  return acknowledged
}

async function steps({ address }: RunningProcess): Promise<Map<string, JsonObject[]>> {
  const reply = await callNode(address, '/steps')
  expect(reply.status).toBe(200)
  const all = Array.isArray(reply.body) ? reply.body.filter(isJsonObject) : []
  return Map.groupBy(all, ({ id }) => textIn(id))
}

test.each([
  ['SQLite', 1],
  ['PostgreSQL', 2],
])('%s, %i: each step of a run is in the database once after kill -9', async (engine, count) => {
  const cluster = await openCluster(engine)
  for (let at = 0; at < count; at += 1) await cluster.start(at)
  const [first] = cluster.nodes
  if (!first) throw new Error('No node has started.')
  await installOver(first.address, await signIn(first), blueprint())
  const asked = await callNode(first.address, '/ask', { method: 'POST', body: { id: 'asked' } })
  const link = textIn(objectOf(asked.body).link)

  const acknowledged: string[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const at = kill % count
    const node = cluster.nodes[at]
    if (!node) throw new Error('No node has started.')
    acknowledged.push(...(await storm(node, `kill${kill}`)))
    await cluster.start(at)
  }
  expect(acknowledged.length).toBeGreaterThan(2 * CONNECTIONS)

  const [node = first] = cluster.nodes
  const token = await signIn(node)
  const waiting = () => searchAll(node.address, '/_system/waits/search', token, { kind: 'time' })
  await expect.poll(async () => (await waiting()).length, { timeout: 120_000, interval: 250 }).toBe(0)

  // On a node that was killed since it gave the link.
  const visitor = openVisitor(node.address)
  const decided = await visitor.submit(await visitor.get(link), 'decision', {}, { button: 'Approve' })
  expect(decided.status).toBe(200)
  await expect.poll(async () => (await steps(node)).has('asked'), { timeout: 60_000 }).toBe(true)

  const all = await steps(node)
  expect(all.get('asked')).toMatchObject([{ step: 'approved' }])
  all.delete('asked')
  for (const id of acknowledged) expect(all.has(id), id).toBe(true)
  for (const [id, written] of all) {
    expect(written.map(({ step }) => step).sort(), id).toEqual(['after', 'before', 'last'])
    const waits = new Set(written.flatMap(({ wait }) => (wait === undefined ? [] : [textIn(wait)])))
    expect(waits.size, id).toBe(1)
    expect(new Set(calls.get(id)), id).toEqual(waits)
  }
  // A run that was undone has called no one.
  for (const id of calls.keys()) expect(all.has(id), id).toBe(true)
})
