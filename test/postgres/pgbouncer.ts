/** PgBouncer in transaction mode, from Debian's package, in front of a PostgreSQL of the tests. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export interface PgBouncer {
  readonly port: number
  close(): Promise<void>
}

const NOBODY = 65_534

export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version']).status === 0
}

/** `target`: the port of the PostgreSQL behind it. Two connections for all: so that they are really shared. */
export async function openPgBouncer(port: number, target: number): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-pgbouncer-'))
  await chmod(folder, 0o755)
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${target} user=quoin`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 3',
    'max_client_conn = 200',
  ]
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o644 })
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn('pgbouncer', ['--quiet', file], { stdio: 'ignore', cwd: '/', ...user })
  const ended = once(child, 'exit')
  for (let tries = 0; !(await listens(port)); tries++) {
    if (tries === 200 || child.exitCode !== null) throw new Error('PgBouncer did not start.')
    await wait(25)
  }
  return {
    port,
    async close() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
