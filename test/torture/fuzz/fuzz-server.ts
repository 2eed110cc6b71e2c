/** The server that is fuzzed: a process of its own whose event loop and memory are looked at. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { addFunctions } from '../../../src/storage/sqlite/core/sqlite-connection.ts'
import { adminPassword, startProcess } from '../../end-to-end/harness.ts'
import { openPostgresServer } from '../../postgres/postgres-server.ts'
import { openServerGuard, type ServerGuard } from '../server-guard/server-guard.ts'
import { writeExtensions } from './fuzz-extension.ts'

export const fuzzServerKinds = ['one process', 'PostgreSQL'] as const
export type FuzzServerKind = (typeof fuzzServerKinds)[number]

export interface FuzzServer {
  readonly address: () => string
  readonly guard: ServerGuard
  /** Ends it as an orchestrator does and starts it again: what is wrong with it then. */
  damage(): Promise<string[]>
  close(): Promise<void>
}

const READY_MS = 60_000
const LOOK_MS = 250
const preload = new URL('./broken-server.ts', import.meta.url).href

export async function openFuzzServer(kind: FuzzServerKind): Promise<FuzzServer> {
  const postgres = kind === 'PostgreSQL' ? await openPostgresServer() : undefined
  try {
    const server = await openFuzzServerOn({ url: postgres?.url('postgres') })
    return {
      ...server,
      async close() {
        await server.close()
        await postgres?.close()
      },
    }
  } catch (error) {
    await postgres?.close()
    throw error
  }
}

export interface FuzzServerOptions {
  /** A database of PostgreSQL; the embedded engine if there is none. */
  readonly url?: string | undefined
  /** With the broken routes of the control. */
  readonly broken?: boolean
}

export async function openFuzzServerOn({ url, broken }: FuzzServerOptions): Promise<FuzzServer> {
  const home = await mkdtemp(join(tmpdir(), 'quoin-fuzz-'))
  const guard = openServerGuard(join(home, 'guard'), 0)
  const { NODE_OPTIONS, TURN_GUARD } = guard.settings
  const data = join(home, 'data')
  const extensions = join(home, 'extensions')
  await writeExtensions(extensions)
  const start = () =>
    startProcess(data, {
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_EXAMPLES: '0',
      QUOIN_RATE_LIMIT: '0',
      // It takes longer than a sign-in counts as new.
      QUOIN_CONFIRM_SECONDS: '0',
      // OAuth needs a name; nothing is sent there.
      QUOIN_PUBLIC_URL: 'https://quoin.example.org',
      QUOIN_BLOCKS: extensions,
      QUOIN_LOG_LEVEL: 'silent',
      NODE_OPTIONS: broken ? `${NODE_OPTIONS} --import=${preload}` : NODE_OPTIONS,
      TURN_GUARD,
      ...(url !== undefined && { DATABASE_URL: url }),
    })
  try {
    let node = await start()
    return {
      address: () => node.address,
      guard,
      async damage() {
        const code = await node.end('SIGTERM')
        const faults = code === 0 ? [] : [`the server ended with ${code}:\n${node.output().slice(-2_000)}`]
        if (url === undefined) faults.push(...damageOf(join(data, 'quoin.db')))
        node = await start()
        const status = await readiness(node.address)
        return status === 200 ? faults : [...faults, `after a start /health/ready is ${status}`]
      },
      async close() {
        await node.end('SIGKILL')
        await rm(home, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(home, { recursive: true, force: true })
    throw error
  }
}

/** A node of a cluster is ready when it holds its lease, which takes seconds where the machine is busy. */
async function readiness(address: string): Promise<number> {
  const late = performance.now() + READY_MS
  for (;;) {
    const { status } = await fetch(`${address}/health/ready`)
    if (status === 200 || performance.now() > late) return status
    await wait(LOOK_MS)
  }
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
