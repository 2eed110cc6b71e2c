/**
 * A database of the version before key columns is upgraded while it serves: a node of this version starts beside one of the version
 * before, takes over its requests, and moves the indexes of a full storage to key columns in the background. No request may fail,
 * and in the end each list must have the total that the documents say.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { isJsonObject } from '../../src/shared/json.ts'
import { type Candidate, type CandidateStart, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { MIB } from '../large-bodies.ts'
import { type LoadResult, runLoad } from '../load.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { memoryOf } from '../process-memory.ts'
import { type Ask, ask } from '../requests.ts'
import { STATUSES, statusName, taskBody } from '../sample-tasks.ts'
import { guidsOf } from './documents-of.ts'
import { type Goal, milliseconds, type Reached } from './goal.ts'

const DOCUMENTS = 1_000_000
const CONNECTIONS = 4
const ALONE_SECONDS = 10
const STEP = 'src/storage/postgres/core/migrations/0019-key-columns.sql'
const run = promisify(execFile)

/** It takes a checkout of the version before, so a repository with its history. */
export const upgrade: Goal = {
  id: 'upgrade',
  title: `${DOCUMENTS.toLocaleString('en-US')} documents on PostgreSQL are upgraded to key columns while they are read and written`,
  goal: 'no request fails',
  measure,
}

async function measure(): Promise<Reached> {
  const server = await openMeasuredPostgres({ durable: true })
  const before = await checkoutBefore()
  const nodes: Candidate[] = []
  const admin = new Client({ connectionString: server.url('postgres') })
  try {
    await admin.connect()
    const start = nodeStart(server.url('postgres'))
    const old = await startQuoin({ ...start('former'), checkout: before.folder })
    nodes.push(old)
    await importDocuments(old, 'tasks', DOCUMENTS, taskBody)
    await mustBeBefore(admin)
    await admin.query('VACUUM ANALYZE')
    const guids = await guidsOf(old, 'tasks?limit=200')
    const alone = await served(old, guids, new Promise((done) => setTimeout(done, ALONE_SECONDS * 1000)))
    const log = await walOf(admin)
    const began = performance.now()
    const starting = startQuoin({ ...start('new'), installs: false })
    const beside = await served(old, guids, starting)
    const next = await starting
    nodes.push(next)
    // The load balancer sends the next requests to the new node before it ends the other one.
    const ended = old.close()
    const moving = await served(next, guids, Promise.all([ended, moved(admin)]))
    const seconds = (performance.now() - began) / 1000
    const bytes = (await walOf(admin)) - log
    const after = await served(next, guids, new Promise((done) => setTimeout(done, ALONE_SECONDS * 1000)))
    await mustTellTotals(next, admin)
    const memory = Math.round((memoryOf(next.pid)?.peak ?? Number.NaN) / MIB)
    const phases = [alone, beside, moving, after]
    const errors = phases.reduce((sum, phase) => sum + phase.errors, 0)
    const replies = phases.reduce((sum, phase) => sum + phase.replies, 0)
    const titles = ['before', 'while the new node started', 'while it moved', 'after']
    const times = titles.map((title, at) => `${title} ${timesOf(phases[at])}`)
    const failed = titles.flatMap((title, at) =>
      phases[at]?.errors ? `${phases[at].errors} ${title}: ${phases[at].firstError}` : [],
    )
    const found = `${errors} of ${replies.toLocaleString('en-US')} requests failed${failed.length === 0 ? '' : ` (${failed.join(', ')})`}; moved after ${Math.round(seconds)} s, ${Math.round(bytes / 1e6)} MB of log, the new node had at most ${memory} MB of memory; p50 and p99 ${times.join(', ')}`
    return { found, met: errors === 0 }
  } finally {
    for (const node of nodes) await node.close()
    await admin.end()
    await before.remove()
    await server.close()
  }
}

/** The commit before the step of the schema, with the packages of this one. */
async function checkoutBefore() {
  const here = fileURLToPath(new URL('../..', import.meta.url))
  const git = async (...words: string[]) => (await run('git', words, { cwd: here })).stdout.trim()
  const added = await git('log', '-1', '--format=%H', '--diff-filter=A', '--', STEP)
  if (added === '') throw new Error(`The history of this repository does not say when ${STEP} was added.`)
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-former-'))
  await git('worktree', 'add', '--detach', folder, `${added}~1`)
  await symlink(join(here, 'node_modules'), join(folder, 'node_modules'))
  const remove = async () => {
    await git('worktree', 'remove', '--force', folder)
    await rm(folder, { recursive: true, force: true })
  }
  return { folder, remove }
}

function nodeStart(url: string) {
  const password = randomBytes(16).toString('base64url')
  const blueprints = [new URL('../search.blueprint.json', import.meta.url)]
  return (name: string): CandidateStart => ({
    core: undefined,
    password,
    settings: { DATABASE_URL: url, QUOIN_ADMIN_PASSWORD: password, QUOIN_NODE: name },
    ...(name === 'former' ? { blueprints } : {}),
  })
}

/** Lists with their totals, reads, changes and new documents, until the work is done. */
async function served(
  { port, token }: Candidate,
  guids: readonly string[],
  work: Promise<unknown>,
): Promise<LoadResult> {
  let over = false
  const ended = () => {
    over = true
  }
  work.then(ended, ended)
  let turn = 0
  const next = (): Ask | undefined => {
    if (over) return undefined
    turn += 1
    const path = `tasks/${guids[turn % guids.length]}`
    const status = statusName(turn)
    if (turn % 4 === 0) return ask({ path: `bench/page?status=${status}` })
    if (turn % 4 === 1) return ask({ path })
    if (turn % 4 === 2) return ask({ method: 'PUT', path, token, body: JSON.stringify({ status }) })
    return ask({ method: 'POST', path: 'tasks', token, body: taskBody(turn), expected: 201 })
  }
  const result = await runLoad({ port, connections: CONNECTIONS, next })
  await work
  return result
}

/** The index by status of the version before. A measurement without it would measure nothing. */
async function mustBeBefore(admin: Client): Promise<void> {
  const { rows } = await admin.query(
    `SELECT to_regclass('key_column') IS NULL AND EXISTS (SELECT FROM pg_indexes WHERE indexdef LIKE '%quoin_key(%status%') AS is_before`,
  )
  if (rows[0]?.is_before !== true) throw new Error('The version before has no index over an expression.')
}

/** Resolves when the key columns of all storages are filled. */
async function moved(admin: Client): Promise<void> {
  for (;;) {
    const { rows } = await admin.query(
      `SELECT EXISTS (SELECT FROM key_column JOIN storage ON id = storage WHERE name = 'tasks' AND ready)
        AND NOT EXISTS (SELECT FROM key_column WHERE NOT ready) AS done`,
    )
    if (rows[0]?.done === true) return
    await new Promise((next) => setTimeout(next, 500))
  }
}

async function walOf(admin: Client): Promise<number> {
  const { rows } = await admin.query(`SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`)
  return Number(rows[0]?.bytes)
}

function timesOf(phase: LoadResult | undefined): string {
  const [half, most] = [0.5, 0.99].map((share) => milliseconds(phase?.latencies.within(share) ?? Number.NaN))
  return `${half} and ${most}`
}

async function mustTellTotals({ base }: Candidate, admin: Client): Promise<void> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS name FROM storage WHERE name = 'tasks'`)
  const { rows: counted } = await admin.query(
    `SELECT doc ->> 'status' AS status, count(*)::int AS n FROM ${rows[0]?.name} WHERE removed = 0 GROUP BY 1`,
  )
  if (counted.length !== STATUSES) throw new Error(`There are ${counted.length} statuses.`)
  for (const { status, n } of counted) {
    const page: unknown = await (await fetch(`${base}/api/v1/bench/page?status=${status}`)).json()
    if (!isJsonObject(page) || page.total !== n) throw new Error(`Of ${status} there are ${n} documents.`)
  }
}
