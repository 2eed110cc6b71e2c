/**
 * What a cluster costs and gives: the same requests to Quoin on its embedded engine, and on PostgreSQL with 1, 2 and 4
 * nodes. All of it, the load included, shares this machine's cores, so more nodes cannot be faster here than their cores.
 */
import { randomBytes } from 'node:crypto'
import { type Candidate, startQuoin } from './candidates.ts'
import { cpuMicroseconds } from './cpu-time.ts'
import { runLoad } from './load.ts'
import { openMeasuredPostgres } from './measured-postgres.ts'
import { CONNECTIONS, rows, type SeededCandidate } from './rows.ts'
import { seed } from './seed.ts'
import { median } from './statistics.ts'

export interface NodesRow {
  /** `embedded`, or how many nodes on PostgreSQL. */
  readonly cluster: string
  /** Replies a second, by the row's id. */
  readonly rates: ReadonlyMap<string, number>
  /** Processor time of the nodes for one reply, microseconds, by the row's id; PostgreSQL's own is not in it. */
  readonly cpu: ReadonlyMap<string, number>
}

export const MEASURED = ['constant', 'read', 'list-after-write', 'create'] as const
const SIZES = [1, 2, 4]
const ROUNDS = 3
const SECONDS = 2

export async function measureNodes(): Promise<readonly NodesRow[]> {
  const found: NodesRow[] = []
  console.log('embedded …')
  found.push(await measure('embedded', [await startQuoin({ core: undefined })]))
  for (const size of SIZES) {
    console.log(`${size} on PostgreSQL …`)
    const server = await openMeasuredPostgres({ durable: true })
    try {
      found.push(
        await measure(
          `${size} ${size === 1 ? 'node' : 'nodes'}`,
          await startNodes(server.url('postgres'), size),
        ),
      )
    } finally {
      await server.close()
    }
  }
  return found
}

async function startNodes(url: string, size: number): Promise<Candidate[]> {
  const password = randomBytes(16).toString('base64url')
  const settings = { DATABASE_URL: url, QUOIN_ADMIN_PASSWORD: password, QUOIN_POOL: '16' }
  const nodes: Candidate[] = []
  for (let number = 0; number < size; number++)
    nodes.push(
      await startQuoin({
        core: undefined,
        settings: { ...settings, QUOIN_NODE: `node ${number}` },
        password,
        installs: number === 0,
      }),
    )
  return nodes
}

/** Closes the nodes. */
async function measure(cluster: string, nodes: readonly Candidate[]): Promise<NodesRow> {
  try {
    const [first, ...others] = nodes
    if (first === undefined) throw new Error('A cluster has a node.')
    const seeded = await seed(first)
    const all = [seeded, ...others.map((other): SeededCandidate => ({ ...other, guids: seeded.guids }))]
    const rates = new Map<string, number>()
    const cpu = new Map<string, number>()
    for (const { id, asks } of rows.filter((row) => MEASURED.some((one) => one === row.id))) {
      const rounds = []
      for (let round = 0; round < ROUNDS; round++) rounds.push(await load(all, asks))
      rates.set(id, median(rounds.map(({ rate }) => rate)))
      cpu.set(id, median(rounds.map((one) => one.cpu)))
    }
    return { cluster, rates, cpu }
  } finally {
    for (const node of nodes) await node.close()
  }
}

async function load(nodes: readonly SeededCandidate[], asks: (typeof rows)[number]['asks']) {
  const before = nodes.map(({ pid }) => cpuMicroseconds(pid) ?? Number.NaN)
  const results = await Promise.all(
    nodes.map((node) =>
      runLoad({
        port: node.port,
        connections: CONNECTIONS / nodes.length,
        next: asks(node),
        seconds: SECONDS,
        rampSeconds: 0.3,
      }),
    ),
  )
  for (const { errors, firstError } of results)
    if (errors > 0) throw new Error(`A request was not answered as it should be: ${firstError}`)
  const replies = results.reduce((sum, result) => sum + result.replies, 0)
  const spent = nodes.reduce(
    (sum, { pid }, index) => sum + (cpuMicroseconds(pid) ?? Number.NaN) - (before[index] ?? 0),
    0,
  )
  return { rate: results.reduce((sum, { rate }) => sum + rate, 0), cpu: spent / replies }
}
