import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCore } from './cores.ts'
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
  report(): Promise<unknown>
  /** Ends it and removes its folder. */
  close(): Promise<void>
}

export interface CandidateStart {
  readonly core: number | undefined
  /** Whether it can `report` its connections: for the checks before, not for timing. */
  readonly reports: boolean
  /** Of Quoin: more settings, and the administrator's password if it is given in them. */
  readonly settings?: Readonly<Record<string, string>>
  readonly password?: string
  /** False for a further node of a cluster, which finds the endpoints there. */
  readonly installs?: boolean
}

const preload = ['--import', new URL('report-connections.ts', import.meta.url).href]

export function startQuoin(start: CandidateStart): Promise<Candidate> {
  return inFolder('quoin', async (folder) => {
    const password = start.password ?? randomBytes(16).toString('base64url')
    const server = await startServer({
      command: command(start, ['src/main.ts', 'start']),
      environment: {
        QUOIN_DATA: folder,
        QUOIN_PORT: '0',
        QUOIN_ADMIN_PASSWORD: password,
        QUOIN_ENVIRONMENT: 'production',
        QUOIN_LOG_LEVEL: 'warn',
        QUOIN_RATE_LIMIT: '0',
        ...start.settings,
      },
      reports: start.reports,
    })
    return stoppedOnError(server, async () => {
      const api = await signIn(baseOf(server), 'admin', password)
      if (start.installs ?? true)
        await installBlueprintFile(api, new URL('constant.blueprint.json', import.meta.url))
      return candidate('Quoin', server, api.token, join(folder, 'quoin.db'))
    })
  })
}

export function startHandWritten(start: CandidateStart): Promise<Candidate> {
  return inFolder('hand-written', async (folder) => {
    const server = await startServer({
      command: command(start, ['bench/hand-written.ts', folder]),
      reports: start.reports,
    })
    return stoppedOnError(server, async () => {
      const token = server.printed.find((line) => line.startsWith('token '))?.slice('token '.length)
      if (token === undefined) throw new Error('The hand-written server printed no token.')
      return candidate('hand-written', server, token, join(folder, 'tasks.db'))
    })
  })
}

function command({ core, reports }: CandidateStart, words: readonly string[]): readonly string[] {
  return onCore(core, [process.execPath, ...(reports ? preload : []), ...words])
}

function candidate(
  name: Candidate['name'],
  server: ServerProcess,
  token: string,
  databaseFile: string,
): Candidate {
  const { pid, port, report, stop } = server
  return { name, pid, port, base: baseOf(server), token, databaseFile, report, close: stop }
}

function baseOf({ port }: ServerProcess): string {
  return `http://127.0.0.1:${port}`
}

/** The folder lives as long as the candidate, and not longer when that does not start or this process is stopped. */
async function inFolder(name: string, start: (folder: string) => Promise<Candidate>): Promise<Candidate> {
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
