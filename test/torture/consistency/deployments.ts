/** What concurrent clients are let loose on: one process, or two nodes on one PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { addFunctions } from '../../../src/storage/sqlite/core/sqlite-connection.ts'
import { callNode } from '../../cluster/call-node.ts'
import { installOver } from '../../cluster/install-over.ts'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../../end-to-end/harness.ts'
import { openPostgresServer } from '../../postgres/postgres-server.ts'
import type { RandomSource } from '../random-source.ts'
import { consistencyBlueprint } from './consistency-blueprint.ts'

export interface Deployment {
  /** In turns: each connection asks for one. */
  address(): string
  /** Of the administrator. */
  readonly token: string
  /** Whether a list and its total are of one moment. */
  readonly oneSnapshot: boolean
  /** How many of its nodes were killed. */
  readonly kills: number
  /** kill -9 of a node, and a start on the same data. Resolves when it serves again. */
  killOne(random: Pick<RandomSource, 'below'>): Promise<void>
  /** Stops it as a power cut would, and gives what is wrong with the database file; nothing for PostgreSQL. */
  damage(): Promise<readonly string[]>
  close(): Promise<void>
}

export const deploymentKinds = ['one process', 'two PostgreSQL nodes'] as const
export type DeploymentKind = (typeof deploymentKinds)[number]

export async function openDeployment(kind: DeploymentKind): Promise<Deployment> {
  const home = await mkdtemp(join(tmpdir(), 'quoin-consistency-'))
  const releases: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })]
  const close = async () => {
    for (const release of releases.reverse()) await release()
  }
  try {
    const starts = kind === 'two PostgreSQL nodes' ? await postgresNodes(home, releases) : [embedded(home)]
    const nodes: RunningProcess[] = []
    releases.push(() => Promise.all(nodes.map((node) => node.end('SIGKILL'))))
    for (const start of starts) nodes.push(await start())
    let turn = 0
    let kills = 0
    const address = () => nodes[turn++ % nodes.length]?.address ?? ''
    const token = await signIn(address())
    await installOver(address(), token, consistencyBlueprint)
    return {
      address,
      token,
      oneSnapshot: kind === 'one process',
      get kills() {
        return kills
      },
      async killOne(random) {
        const place = random.below(nodes.length)
        const [node, start] = [nodes[place], starts[place]]
        if (!node || !start) throw new RangeError('There is no such node.')
        kills += 1
        await node.end('SIGKILL')
        nodes[place] = await start()
      },
      async damage() {
        await Promise.all(nodes.splice(0).map((node) => node.end('SIGKILL')))
        return kind === 'two PostgreSQL nodes' ? [] : damageOf(join(home, 'quoin.db'))
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const settings = {
  QUOIN_ADMIN_PASSWORD: adminPassword,
  QUOIN_EXAMPLES: '0',
  QUOIN_RATE_LIMIT: '0',
  // It takes longer than a sign-in counts as new.
  QUOIN_CONFIRM_SECONDS: '0',
  QUOIN_SECRETS_KEY: '0f'.repeat(32),
}

function embedded(home: string): () => Promise<RunningProcess> {
  return () => startProcess(home, settings)
}

async function postgresNodes(
  home: string,
  releases: (() => Promise<unknown>)[],
): Promise<(() => Promise<RunningProcess>)[]> {
  const postgres = await openPostgresServer({ durable: true })
  releases.push(() => postgres.close())
  const client = new Client({ connectionString: postgres.url('postgres') })
  await client.connect()
  await client.query('CREATE DATABASE quoin')
  await client.end()
  const url = postgres.url('quoin')
  return ['a', 'b'].map(
    (name) => () => startProcess(join(home, name), { ...settings, QUOIN_NODE: name, DATABASE_URL: url }),
  )
}

function damageOf(path: string): string[] {
  const database = new DatabaseSync(path)
  addFunctions(database)
  try {
    const rows = database.prepare('PRAGMA integrity_check').all()
    return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== 'ok')
  } finally {
    database.close()
  }
}

async function signIn(address: string): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  const reply = await callNode(address, '/auth/signin', { method: 'POST', body })
  return String(objectOf(reply.body).access_token)
}
