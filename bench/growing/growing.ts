/**
 * What nodes and documents cost PostgreSQL: processor time is measured, not replies a second, because all of it shares this
 * machine's cores. A line through two sizes is checked by one between them, and says what many more would cost.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { runLoad } from '../load.ts'
import { deploy, installBlueprint, stage } from '../management-api.ts'
import { openMeasuredPostgres } from '../measured-postgres.ts'
import { ask } from '../requests.ts'
import { taskBody } from '../sample-tasks.ts'
import { median } from '../statistics.ts'
import { databaseMicroseconds } from './database-time.ts'

const NODES = [1, 3, 6] as const
const DOCUMENTS = [20_000, 60_000, 180_000] as const

export interface NodesPoint {
  readonly nodes: number
  /** Processor time of PostgreSQL while nothing is asked, microseconds a second. */
  readonly idle: number
  readonly connections: number
  /** A deploy of a changed block: milliseconds until it is answered, and PostgreSQL's processor time, microseconds. */
  readonly deploy: number
  readonly deployDatabase: number
}

export interface DocumentsPoint {
  readonly documents: number
  /** Of the table of documents with its indexes. */
  readonly bytes: number
  /** PostgreSQL's processor time for reading one by guid, microseconds. */
  readonly read: number
  /** The same for creating one. */
  readonly create: number
}

const IDLE_SECONDS = 15
const DEPLOYS = 15
const READS = 3_000
const CREATES = 1_500

export async function measureGrowing(): Promise<{
  readonly nodes: readonly NodesPoint[]
  readonly documents: readonly DocumentsPoint[]
}> {
  const nodes: NodesPoint[] = []
  for (const size of NODES) {
    console.log(`${size} ${size === 1 ? 'node' : 'nodes'} …`)
    nodes.push(await withNodes(size, (all, admin) => measureNodes(all, admin)))
  }
  return { nodes, documents: await withNodes(1, measureDocuments) }
}

async function withNodes<T>(
  size: number,
  work: (nodes: readonly [Candidate, ...Candidate[]], admin: Client) => Promise<T>,
): Promise<T> {
  const server = await openMeasuredPostgres({ durable: true })
  const admin = new Client({ connectionString: server.url('postgres') })
  const password = randomBytes(16).toString('base64url')
  const settings = { DATABASE_URL: server.url('postgres'), QUOIN_ADMIN_PASSWORD: password }
  const start = (number: number) =>
    startQuoin({
      core: undefined,
      settings: { ...settings, QUOIN_NODE: `node ${number}` },
      password,
      installs: false,
    })
  const nodes: Candidate[] = []
  try {
    await admin.connect()
    const first = await start(0)
    nodes.push(first)
    for (let number = 1; number < size; number++) nodes.push(await start(number))
    return await work([first, ...nodes.slice(1)], admin)
  } finally {
    for (const node of nodes) await node.close()
    await admin.end()
    await server.close()
  }
}

async function measureNodes(
  [first, ...others]: readonly [Candidate, ...Candidate[]],
  admin: Client,
): Promise<NodesPoint> {
  // What they do once, behind their start.
  await wait(10_000)
  const idle = await databaseTime(admin, () => wait(IDLE_SECONDS * 1_000))
  const { rows } = await admin.query(
    `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'quoin' OR query LIKE 'LISTEN%'`,
  )
  const file = await readFile(new URL('../constant.blueprint.json', import.meta.url), 'utf8')
  const { blueprint, blocks } = await installBlueprint(first, JSON.parse(file))
  const times: number[] = []
  const deploys = await databaseTime(admin, async () => {
    for (let version = 0; version < DEPLOYS; version++) {
      await stage(first, blocks.get('object') ?? '', { version })
      const began = performance.now()
      await deploy(first, blueprint)
      times.push(performance.now() - began)
    }
  })
  return {
    nodes: others.length + 1,
    idle: idle / IDLE_SECONDS,
    connections: Number(rows[0]?.n),
    deploy: median(times),
    deployDatabase: deploys / DEPLOYS,
  }
}

async function measureDocuments(
  [node]: readonly [Candidate, ...Candidate[]],
  admin: Client,
): Promise<readonly DocumentsPoint[]> {
  const found: DocumentsPoint[] = []
  let there = 0
  for (const documents of DOCUMENTS) {
    console.log(`${documents.toLocaleString('en-US')} documents …`)
    const before = there
    await importDocuments(node, 'tasks', documents - before, (number) => taskBody(before + number))
    there = documents
    await admin.query('VACUUM ANALYZE')
    const { rows } = await admin.query(
      `SELECT pg_total_relation_size('doc_' || id) AS bytes FROM storage WHERE name = 'tasks'`,
    )
    const guids = await guidsOf(admin)
    const read = await perReply(admin, node, READS, (number) =>
      ask({ path: `tasks/${guids[number % guids.length]}?n=${number}` }),
    )
    const create = await perReply(admin, node, CREATES, (number) =>
      ask({ method: 'POST', path: 'tasks', token: node.token, body: taskBody(number), expected: 201 }),
    )
    there += CREATES
    found.push({ documents, bytes: Number(rows[0]?.bytes), read, create })
  }
  return found
}

async function guidsOf(admin: Client): Promise<string[]> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS name FROM storage WHERE name = 'tasks'`)
  const some = await admin.query(`SELECT guid FROM ${rows[0]?.name} ORDER BY random() LIMIT 2000`)
  return some.rows.map(({ guid }) => String(guid))
}

/** PostgreSQL's processor time for one of so many requests. */
async function perReply(
  admin: Client,
  { port }: Candidate,
  count: number,
  request: (number: number) => ReturnType<typeof ask>,
): Promise<number> {
  let sent = 0
  const spent = await databaseTime(admin, async () => {
    const next = () => (sent < count ? request(sent++) : undefined)
    const { errors, firstError } = await runLoad({ port, connections: 8, next })
    if (errors > 0) throw new Error(`A request was not answered as it should be: ${firstError}`)
  })
  return spent / count
}

async function databaseTime(admin: Client, work: () => Promise<unknown>): Promise<number> {
  const { rows } = await admin.query('SELECT pg_backend_pid() AS pid')
  const backend = Number(rows[0]?.pid)
  const before = await databaseMicroseconds(backend)
  await work()
  return (await databaseMicroseconds(backend)) - before
}
