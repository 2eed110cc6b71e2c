/**
 * The server as a process of its own that an edit replaces. `node --watch` is not used: it sees neither SQL nor new files, reporting
 * each imported file takes 0.25 s of processor time a start, and it does not say when the server listens.
 *
 * | state | next |
 * | --- | --- |
 * | starting | serving when it listens; ended when the process ends; stopping by an edit |
 * | serving | stopping by an edit; ended when the process ends |
 * | stopping | starting, with the sources as they are then |
 * | ended | stopping by an edit |
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** An editor that writes several files at once causes one restart. */
const GATHER_MS = 50
/** A request that is in flight has this long to end before a restart. */
const STOP_MS = 2_000
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/

export interface RestartingServer {
  /** Where it listens, once it does; undefined when it has ended by itself, until the next restart. */
  address(): Promise<string | undefined>
  /** After an edit. From now on `address` waits for the new process. */
  restart(): void
  stop(): Promise<void>
}

export interface ServerStart {
  /** A module that sends its parent a text with its address when it listens, and ends when its parent has. */
  readonly program: string
  /** Flags of Node, such as `--inspect`. */
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Awaited before a process is asked to end. */
  readonly beforeStop: () => Promise<void>
  /** It listens, so long after its start or the edit that replaced it. */
  readonly served: (milliseconds: number) => void
  /** It ended without being asked. */
  readonly ended: (code: number | NodeJS.Signals) => void
}

export function startServer(start: ServerStart): RestartingServer {
  let state: 'starting' | 'serving' | 'stopping' | 'ended' | 'stopped' = 'starting'
  let began = performance.now()
  let listening = Promise.withResolvers<string | undefined>()
  let gathering: NodeJS.Timeout | undefined
  let child = launch()

  function launch(): ChildProcess {
    state = 'starting'
    const launched = spawn(process.execPath, [...start.flags, start.program], {
      // A group of its own: Ctrl-C of a terminal would reach it twice, and the second signal cuts off what is in flight.
      detached: true,
      env: start.environment,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    launched.on('message', (text) => {
      const [address] = ADDRESS.exec(String(text)) ?? []
      if (address === undefined || state !== 'starting') return
      state = 'serving'
      listening.resolve(address)
      start.served(performance.now() - began)
    })
    launched.once('exit', (code, signal) => {
      if (state !== 'starting' && state !== 'serving') return
      state = 'ended'
      listening.resolve(undefined)
      start.ended(signal ?? code ?? 1)
    })
    return launched
  }

  async function replace(): Promise<void> {
    await start.beforeStop()
    await end()
    if (state === 'stopping') child = launch()
  }

  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await gone
    clearTimeout(late)
  }

  return {
    address: () => listening.promise,
    restart() {
      if (state === 'stopping' || state === 'stopped') return
      began = performance.now()
      // Requests that wait for a start that is cut off here wait for the next one.
      if (state !== 'starting') listening = Promise.withResolvers()
      state = 'stopping'
      gathering = setTimeout(() => void replace(), GATHER_MS)
    },
    async stop() {
      state = 'stopped'
      clearTimeout(gathering)
      await end()
    },
  }
}
