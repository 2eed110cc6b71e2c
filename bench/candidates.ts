import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leanMemory } from '../bin/lean-memory.mjs'
import { onCore, type ServerCores } from './cores.ts'
import { installBlueprintFile, signIn } from './management-api.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** A running server with the endpoints of the bench. */
export interface Candidate {
  readonly name: 'Quoin' | 'hand-written'
  readonly pid: number
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly base: string
  readonly token: string
  /** The name of the file that its documents are in. */
  readonly databaseFile: string
  /** Milliseconds from its start until it listened. */
  readonly startMs: number
  report(): Promise<unknown>
  /** Ends it and removes its folder, if that was made for it. */
  close(): Promise<void>
}

export interface CandidateStart {
  readonly core: ServerCores
  /** What it can `report`: its connections, for the checks before, its heap, its longest turn, or a profile. Nothing while it is timed. */
  readonly reports?: 'connections' | 'heap' | 'profile' | 'turns'
  /** Of Quoin: more settings, and the administrator's password if it is given in them. */
  readonly settings?: Readonly<Record<string, string>>
  readonly password?: string
  /** False for a further node of a cluster, which finds the endpoints there. */
  readonly installs?: boolean
  /** Files of blueprints that it has besides those of the bench. */
  readonly blueprints?: readonly URL[]
  /** The folder of another checkout of Quoin. */
  readonly checkout?: string
  /** Where its documents are, or shall be; a folder of its own if not given. */
  readonly folder?: string
}

/** What every Quoin of the bench has, and the hand-written candidates too. */
const benchBlueprints = ['constant', 'increment', 'where'].map(
  (name) => new URL(`${name}.blueprint.json`, import.meta.url),
)

export function startQuoin(start: CandidateStart): Promise<Candidate> {
  return inFolder('quoin', start.folder, async (folder) => {
    const password = start.password ?? randomBytes(16).toString('base64url')
    const server = await startServer({
      command: command(start, ['bin/quoin.mjs', 'start']),
      environment: {
        ...leanMemory,
        QUOIN_DATA: folder,
        QUOIN_PORT: '0',
        QUOIN_ADMIN_PASSWORD: password,
        QUOIN_ENVIRONMENT: 'production',
        // The tasks that are measured; in production it is not there unless asked for.
        QUOIN_EXAMPLES: '1',
        QUOIN_LOG_LEVEL: 'warn',
        QUOIN_RATE_LIMIT: '0',
        // It takes longer than a sign-in counts as new.
        QUOIN_CONFIRM_SECONDS: '0',
        ...start.settings,
      },
      reports: start.reports !== undefined,
      folder: start.checkout,
    })
    return stoppedOnError(server, async () => {
      const api = await signIn(baseOf(server), 'admin', password)
      const standard = (start.installs ?? true) ? benchBlueprints : []
      for (const file of [...standard, ...(start.blueprints ?? [])]) await installBlueprintFile(api, file)
      return candidate('Quoin', server, api.token, join(folder, 'quoin.db'))
    })
  })
}

export function startHandWritten(start: CandidateStart): Promise<Candidate> {
  return inFolder('hand-written', start.folder, async (folder) => {
    const server = await startServer({
      command: command(start, ['bench/hand-written.ts', folder]),
      reports: start.reports !== undefined,
    })
    return openedHandWritten(server, folder)
  })
}

export function startHandWrittenPostgres(start: {
  readonly core: number | undefined
  readonly url: string
  readonly connections: number
}): Promise<Candidate> {
  return inFolder('hand-written', undefined, async (folder) => {
    const words = ['bench/hand-written-postgres.ts', start.url, String(start.connections)]
    return openedHandWritten(await startServer({ command: command(start, words), reports: false }), folder)
  })
}

export async function startBareHttp(core: number | undefined): Promise<Candidate> {
  const words = ['bench/bare-http.ts']
  const server = await startServer({ command: command({ core }, words), reports: false })
  return candidate('hand-written', server, '', '')
}

function openedHandWritten(server: ServerProcess, folder: string): Promise<Candidate> {
  return stoppedOnError(server, async () => {
    const token = server.printed.find((line) => line.startsWith('token '))?.slice('token '.length)
    if (token === undefined) throw new Error('The hand-written server printed no token.')
    return candidate('hand-written', server, token, join(folder, 'tasks.db'))
  })
}

function command({ core, reports }: CandidateStart, words: readonly string[]): readonly string[] {
  const preload = reports && ['--import', new URL(`report-${reports}.ts`, import.meta.url).href]
  return onCore(core, [process.execPath, ...(preload ?? []), ...words])
}

function candidate(
  name: Candidate['name'],
  server: ServerProcess,
  token: string,
  databaseFile: string,
): Candidate {
  const { pid, port, startMs, report, stop } = server
  return { name, pid, port, startMs, base: baseOf(server), token, databaseFile, report, close: stop }
}

function baseOf({ port }: ServerProcess): string {
  return `http://127.0.0.1:${port}`
}

/** The folder lives as long as the candidate, and not longer when that does not start or this process is stopped. */
async function inFolder(
  name: string,
  input: string | undefined,
  start: (folder: string) => Promise<Candidate>,
): Promise<Candidate> {
  if (input !== undefined) return await start(input)
  const folder = await mkdtemp(join(tmpdir(), `quoin-bench-${name}-`))
  const remove = () => {
    process.removeListener('exit', remove)
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', remove)
  try {
    const started = await start(folder)
    return { ...started, close: () => started.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

async function stoppedOnError<T>(server: ServerProcess, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await server.stop()
    throw error
  }
}
