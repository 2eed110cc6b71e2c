import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface ServerProcess {
  readonly pid: number
  readonly port: number
  /** Milliseconds from its start until it listened. */
  readonly startMs: number
  /** What it printed until it listened. */
  readonly printed: readonly string[]
  /** What the preloaded `report-connections.ts` or `report-heap.ts` answers. */
  report(): Promise<unknown>
  /** Asks it to end, and ends it if it has not within 10 seconds. */
  stop(): Promise<void>
}

export interface ServerStart {
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** With a channel for `report`. */
  readonly reports: boolean
  /** The folder in which it starts; this checkout if not given. */
  readonly folder?: string | undefined
}

const ADDRESS = /http:\/\/127\.0\.0\.1:(\d+)/
/** From sources, on a busy machine. */
const START_MS = 180_000
const STOP_MS = 10_000

/** Starts a server and waits for the line that says where it listens. Nothing of our environment but PATH goes along. */
export async function startServer({
  command,
  environment,
  reports,
  folder,
}: ServerStart): Promise<ServerProcess> {
  const [program = '', ...words] = command
  const began = performance.now()
  const child = spawn(program, words, {
    cwd: folder ?? new URL('..', import.meta.url),
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(reports ? ['ipc' as const] : [])],
  })
  const orphaned = () => child.kill('SIGKILL')
  // Before the folders are removed.
  process.prependOnceListener('exit', orphaned)
  const stop = async () => {
    await end(child)
    process.removeListener('exit', orphaned)
  }
  try {
    const { port, printed } = await listening(child)
    const startMs = performance.now() - began
    return { pid: child.pid ?? Number.NaN, port, startMs, printed, stop, report: () => answer(child) }
  } catch (error) {
    await stop()
    throw error
  }
}

async function listening(child: ChildProcess): Promise<{ port: number; printed: readonly string[] }> {
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new TypeError('The server has no standard output or error.')
  const printed: string[] = []
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS)
  try {
    const failed = once(child, 'error').then(([error]) => Promise.reject(error))
    failed.catch(() => undefined)
    // On one of the two: ours on the standard error, as the standard output is no screen.
    const found = [stdout, stderr].map((stream) => readAddress(stream, printed))
    const neither = Promise.all(found).then(() => undefined)
    const [first, second] = found.map((one) => one.then((port) => port ?? neither))
    const port = await Promise.race([first, second, failed])
    if (port !== undefined) return { port, printed }
  } finally {
    clearTimeout(late)
  }
  throw new Error(`The server did not start. It printed:\n${printed.join('\n')}`)
}

async function readAddress(stream: NodeJS.ReadableStream, printed: string[]): Promise<number | undefined> {
  const lines = createInterface({ input: stream })
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  // Goes on reading behind the address, or the server would some day wait for room in the pipe.
  lines.on('line', (line) => {
    const port = ADDRESS.exec(line)?.[1]
    if (printed.length < 100) printed.push(line)
    if (port !== undefined) resolve(Number(port))
  })
  lines.once('close', () => resolve(undefined))
  return promise
}

async function answer(child: ChildProcess): Promise<unknown> {
  const input = new AbortController()
  const until = { signal: AbortSignal.any([input.signal, AbortSignal.timeout(STOP_MS)]) }
  const ended = once(child, 'exit', until).then(() => Promise.reject(new Error('The server has ended.')))
  try {
    const reply = once(child, 'message', until)
    child.send('report')
    const [message] = await Promise.race([reply, ended])
    return message
  } finally {
    input.abort()
    ended.catch(() => undefined)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  clearTimeout(late)
}
