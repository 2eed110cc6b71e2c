/** Three processes on one PostgreSQL behind a load balancer, each with a wire to the database that can be cut. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../end-to-end/harness.ts'
import { openPostgresServer, type PostgresServer } from '../postgres/postgres-server.ts'
import { callNode } from './call-node.ts'
import { type CutProxy, openCutProxy } from './cut-proxy.ts'
import { openRoundRobinProxy, type RoundRobinProxy } from './round-robin-proxy.ts'

export interface ClusterMember {
  readonly name: string
  /** Its wire to PostgreSQL. */
  readonly wire: CutProxy
  /** Of the process that runs, or ran last; another one after each start. */
  readonly address: string
  /** What it, and those before it, have printed. */
  output(): string
  /** kill -9. */
  kill(): Promise<void>
  /** Resolves when it answers; a start that fails while PostgreSQL is away is tried again. */
  start(): Promise<void>
  /** As an orchestrator ends it. Gives the exit code. */
  stop(): Promise<number | string>
}

export interface ThreeNodes {
  readonly postgres: PostgresServer
  readonly proxy: RoundRobinProxy
  readonly members: readonly ClusterMember[]
  /** An access token of the administrator. */
  readonly token: string
  close(): Promise<void>
}

const START_MS = 60_000

/** `settings`: environment variables of each node, besides those that make it one of three. */
export async function openThreeNodes(settings: Readonly<Record<string, string>> = {}): Promise<ThreeNodes> {
  const home = await mkdtemp(join(tmpdir(), 'quoin-cluster-'))
  const releases: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })]
  const close = async () => {
    for (const release of releases.reverse()) await release()
  }
  try {
    const postgres = await openPostgresServer({ durable: true })
    releases.push(() => postgres.close())
    await createDatabase(postgres)
    const members = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const wire = await openCutProxy(postgres.port)
        releases.push(() => wire.close())
        const member = memberOf(name, wire, join(home, name), settings)
        releases.push(() => member.kill())
        return member
      }),
    )
    // At once, on an empty database: one of them makes the tables and the administrator.
    await Promise.all(members.map((member) => member.start()))
    const proxy = await openRoundRobinProxy(() => members.map(({ address }) => address))
    releases.push(() => proxy.close())
    return { postgres, proxy, members, token: await signIn(proxy.address), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function createDatabase(postgres: PostgresServer): Promise<void> {
  const client = new Client({ connectionString: postgres.url('postgres') })
  await client.connect()
  await client.query('CREATE DATABASE quoin')
  await client.end()
}

function memberOf(
  name: string,
  wire: CutProxy,
  directory: string,
  settings: Readonly<Record<string, string>>,
): ClusterMember {
  let running: RunningProcess | undefined
  let address = ''
  let printed = ''

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string> {
    const ending = running
    running = undefined
    if (!ending) return 'not running'
    const code = await ending.end(signal)
    printed += ending.output()
    return code
  }

  return {
    name,
    wire,
    get address() {
      return address
    },
    output: () => printed + (running?.output() ?? ''),
    async kill() {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
    async start() {
      const late = performance.now() + START_MS
      while (!running) {
        try {
          running = await startProcess(directory, {
            QUOIN_ADMIN_PASSWORD: adminPassword,
            QUOIN_EXAMPLES: '0',
            QUOIN_RATE_LIMIT: '0',
            // It takes longer than a sign-in counts as new.
            QUOIN_CONFIRM_SECONDS: '0',
            ...settings,
            QUOIN_NODE: name,
            DATABASE_URL: `postgres://quoin@127.0.0.1:${wire.port}/quoin`,
          })
          address = running.address
        } catch (error) {
          printed += `${error}\n`
          if (performance.now() > late) throw error
          await wait(250)
        }
      }
    },
  }
}

async function signIn(address: string): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  const late = performance.now() + START_MS
  let reply = await callNode(address, '/auth/signin', { method: 'POST', body })
  // On a machine that does much else a node may miss a renewal while it starts; it says so with 503.
  while (reply.status === 503 && performance.now() < late) {
    await wait(250)
    reply = await callNode(address, '/auth/signin', { method: 'POST', body })
  }
  const { access_token } = objectOf(reply.body)
  if (typeof access_token !== 'string') throw new Error(`Sign-in failed: ${JSON.stringify(reply.body)}`)
  return access_token
}
