/** Runs that read and then write the same few documents, from many clients at two nodes: how many a second, and whether each counts. */
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { isJsonObject, type JsonObject } from '../../src/shared/json.ts'
import { type Candidate, startQuoin } from '../candidates.ts'
import { runLoad } from '../load.ts'
import { call, installBlueprint, storageGuid } from '../management-api.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { ask, runCooperatively } from '../requests.ts'
import { median } from '../statistics.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'

const CLIENTS = 32
const COUNTERS = 8
const NODES = 2
const LEAST_RUNS = 400
const MOST_P99_MS = 1_000

export const contention: Goal = {
  id: 'contention',
  title: `read a document and then write it, ${CLIENTS} clients on ${COUNTERS} documents, ${NODES} nodes on PostgreSQL`,
  goal: `≥ ${LEAST_RUNS} a second, 99 of 100 within ${MOST_P99_MS.toLocaleString('en-US')} ms`,
  measure,
}

/** The total is read by one block and written by another one, so a run counts only if nothing came in between. */
const counting: JsonObject = {
  name: 'Bench: contention',
  blocks: {
    counters: { type: 'storage', fields: { storage: 'counters' } },
    post: { type: 'on_startup_register_uri_post', in: { uri: 'bench/counted' }, scopes: ['*public'] },
    found: {
      type: 'function_search',
      in: { flow: '@post.flow', storage: '@counters.storage', where: '=doc.number == body.number' },
    },
    more: {
      type: 'mutations_set_bp_field_multiple',
      in: { total: '=found.documents[0].total + 1' },
      fields: { fields: ['total'] },
    },
    update: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@found.flow',
        storage: '@counters.storage',
        guid: '=found.documents[0]._meta.guid',
        mutations: '@more.mutations',
      },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@update.flow', value: '@update.document' } },
  },
}

async function measure({ rounds, seconds }: GoalTiming): Promise<Reached> {
  const server = await openMeasuredPostgres({ durable: true })
  const nodes: Candidate[] = []
  try {
    const password = randomBytes(16).toString('base64url')
    const settings = { DATABASE_URL: server.url('postgres'), QUOIN_ADMIN_PASSWORD: password }
    for (let number = 0; number < NODES; number++)
      nodes.push(
        await startQuoin({
          core: undefined,
          settings: { ...settings, QUOIN_NODE: `node ${number}` },
          password,
          installs: false,
        }),
      )
    const [first] = nodes
    if (first === undefined) throw new Error('A cluster has a node.')
    const storage = await filled(first)
    const before = await undone(server.url('postgres'))
    const rates: number[] = []
    const slowest: number[] = []
    let counted = 0
    for (let round = 0; round < rounds; round++) {
      const { rate, p99, runs } = await load(nodes, seconds)
      rates.push(rate)
      slowest.push(p99)
      counted += runs
    }
    const again = (await undone(server.url('postgres'))) - before
    await refuseLost(first, storage, counted)
    const [rate, p99] = [median(rates), median(slowest)]
    const found = `${Math.round(rate).toLocaleString('en-US')} a second, 99 of 100 within ${milliseconds(p99)}; ${(again / counted).toFixed(2)} tries undone a run`
    return { found, met: rate >= LEAST_RUNS && p99 <= MOST_P99_MS }
  } finally {
    for (const node of nodes) await node.close()
    await server.close()
  }
}

/** Gives the guid of the storage. */
async function filled(node: Candidate): Promise<string> {
  await installBlueprint(node, counting)
  const storage = await storageGuid(node, 'counters')
  for (let number = 0; number < COUNTERS; number++)
    await call(node, 'POST', `_system/storages/${storage}/documents`, { number, total: 0 })
  return storage
}

async function load(nodes: readonly Candidate[], seconds: number) {
  const results = await Promise.all(
    nodes.map(({ port }) =>
      runLoad({
        port,
        connections: CLIENTS / nodes.length,
        next: runCooperatively(
          Array.from({ length: COUNTERS }, (_, number) =>
            ask({ method: 'POST', path: 'bench/counted', body: JSON.stringify({ number }) }),
          ),
        ),
        seconds,
      }),
    ),
  )
  for (const { errors, firstError } of results)
    if (errors > 0) throw new Error(`A request was not answered as it should be: ${firstError}`)
  return {
    rate: results.reduce((sum, { rate }) => sum + rate, 0),
    p99: Math.max(...results.map(({ latencies }) => latencies.within(0.99))),
    runs: results.reduce((sum, { replies }) => sum + replies, 0),
  }
}

/** Transactions that were undone: on a busy machine it says more than the rate. */
async function undone(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SELECT pg_sleep(1.1), pg_stat_clear_snapshot()')
    const { rows } = await client.query('SELECT sum(xact_rollback)::int AS undone FROM pg_stat_database')
    return Number(rows[0]?.undone)
  } finally {
    await client.end()
  }
}

/** The control: without the database's check of what was read, two runs read the same total and one is lost. */
async function refuseLost(node: Candidate, storage: string, runs: number): Promise<void> {
  const found = await call(node, 'POST', `_system/storages/${storage}/documents/search`, {})
  const documents = Array.isArray(found) ? found.filter(isJsonObject) : []
  const total = documents.reduce((sum, document) => sum + Number(document.total), 0)
  if (total !== runs) throw new Error(`${runs} runs were answered, and ${total} are counted.`)
}
