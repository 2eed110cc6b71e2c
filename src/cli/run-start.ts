import type { EventEmitter } from 'node:events'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { exampleNames, installExample, readExample } from '../applications/install-example.ts'
import { ownedObjectsIn } from '../applications/present-application.ts'
import { STUCK_EXIT, stuckDirectory } from '../flows/watchdog/stuck-flows.ts'
import { OptionError } from '../options/option-kinds.ts'
import type { Options } from '../options/options.ts'
import { openQuoin, type Quoin } from '../quoin/quoin.ts'
import type { Surroundings } from '../quoin/start.ts'
import { eventLoopLoad, startWatchdog } from '../quoin/watchdog.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { type Clock, hasPassed } from '../shared/clock.ts'
import type { ClusterNode } from '../storage/cluster.ts'
import type { Terminal } from './command.ts'
import { UsageError } from './read-words.ts'

// A server that rests after its start keeps what was compiled for the next start, and collects what the start left behind,
// in 25 ms. 45 s after a start it has 123 MB of resident memory, and without the collection 137 (three starts each, from the
// bundle with the tasks example); after two minutes both have 123. A collection of everything held the event loop for 45 ms,
// on a busy machine for 67.

const CHECK_MS = 5_000
/** Of the time since the last look. A busy server uses what it has room for. */
const MOST_AT_REST = 0.05

export interface Settling {
  /** The part of the time since it was last asked in which this process did something, 0 to 1. */
  readonly load: () => number
  readonly collect: () => void
}

/** Collects once, when the process has had next to nothing to do for five seconds. Gives a function that calls it off. */
export function settleAfterStart(
  { load, collect }: Settling = { load: eventLoopLoad(), collect: giveBack },
): () => void {
  const timer = setInterval(() => {
    if (load() > MOST_AT_REST) return
    clearInterval(timer)
    collect()
  }, CHECK_MS).unref()
  return () => clearInterval(timer)
}

export function giveBack(): void {
  // What was compiled is kept for the next start here and not only at the end, which a kill would cut off.
  flushCompileCache()
  // The flag gives new contexts a function to collect with; it is out of reach again at once.
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'regular' })
}

/** Exit codes of a process that a signal ended, as shells count them: 128 and the signal's number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

type StopSignal = keyof typeof exitCodes

/** A terminal sends a signal to a whole group, and npm and `keep-running.mjs` hand it on as well: so it comes up to three times. */
const SAME_MS = 100

/** Resolves with the first signal to stop. A second one, whichever of the two it is, ends the process at once. */
export function stopSignal(
  source: EventEmitter,
  clock: Clock,
  exit: (code: number) => void,
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first: { readonly signal: StopSignal; readonly at: number } | undefined
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      source.on(signal, () => {
        if (first?.signal === signal && clock() - first.at < SAME_MS) return
        if (first) exit(exitCodes[signal])
        first ??= { signal, at: clock() }
        resolve(signal)
      })
    }
  })
}

const REPORT_PAUSE_MS = 60_000
const LONGEST_REPORT = 2_000

export interface Faults {
  readonly happened: () => boolean
  /** Resolves with the first exception: what it broke off may be half done, so the process is to end. */
  readonly broken: Promise<void>
}

/**
 * Reports what no part of the process handles, once a minute, and what ends it. No caller waits for the value of such a promise, so the process goes on: see
 * `quoin/DESIGN.md`.
 */
export function watchFaults(source: EventEmitter, clock: Clock, report: (message: string) => void): Faults {
  const { promise: broken, resolve } = Promise.withResolvers<void>()
  let reported = Number.NEGATIVE_INFINITY
  let unreported = 0
  let has = false
  const note = (what: string, error: unknown, ends = false) => {
    has = true
    unreported += 1
    if (!ends && !hasPassed(REPORT_PAUSE_MS, reported, clock())) return
    const times = unreported === 1 ? '' : ` It is one of ${unreported} errors since the last report.`
    reported = clock()
    unreported = 0
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    report(`${what}${times} Please report it: ${text.slice(0, LONGEST_REPORT)}`)
  }
  source.on('unhandledRejection', (error: unknown) =>
    note('A failure was handled nowhere. The process goes on.', error),
  )
  source.on('uncaughtException', (error: unknown) => {
    note('An exception was handled nowhere. The process ends.', error, true)
    resolve()
  })
  return { happened: () => has, broken }
}

/** Requests in flight have 10 seconds; then there is still the disk to wait for. */
const STOP_MS = 15_000

/** Gives the exit code once the node has stopped. `named`: an example application. */
export async function runStart(named: string | undefined, terminal: Terminal): Promise<number> {
  const example = named === undefined ? undefined : await namedExample(named)
  const began = performance.now()
  const options = terminal.options()
  let faults: Faults | undefined
  const hasFaulted = () => faults?.happened() === true
  const { quoin, address } = await listen({ ...terminal, hasFaulted }, options, example)
  // Only now: what fails in a start ends it.
  faults = watchFaults(process, terminal.clock, (message) => {
    terminal.complain(message)
    quoin.flows.log.write({ level: 'error', message })
  })
  const milliseconds = Math.round(performance.now() - began)
  const nodes = await quoin.database.capabilities.cluster?.nodes()
  terminal.announce(
    greeting(quoin, nodes, {
      address,
      data: options.databaseUrl === '' ? options.data : undefined,
      environment: options.environment,
      milliseconds,
    }),
  )
  if (example)
    terminal.announce(
      `  ${String(example.about.title)}:\n\n    ${address}${await firstPage(quoin, example)}\n`,
    )
  // Now that all is open: a migration may take its time.
  startWatchdog({
    running: quoin.flows.running,
    seconds: options.watchdog,
    directory: stuckDirectory(options.data),
    lost: (error) => quoin.flows.log.write({ level: 'error', message: `The watchdog has ended: ${error}` }),
  })
  const callOff = settleAfterStart()
  const signal = await Promise.race([
    stopSignal(process, terminal.clock, (code) => process.exit(code)),
    faults.broken,
  ])
  callOff()
  terminal.announce(`${signal ?? 'Error'} received, shutting down …`)
  const late = setTimeout(() => {
    terminal.complain('The shutdown took too long; requests in flight are cut off.')
    process.exit(signal === undefined ? STUCK_EXIT : 1)
  }, STOP_MS)
  await quoin.close()
  clearTimeout(late)
  // A leftover, such as a connection that is kept alive, must not keep the process running.
  return process.exit(signal === undefined ? STUCK_EXIT : 0)
}

/** Throws UsageError, with the names that there are, for one that there is not. */
async function namedExample(name: string): Promise<Application> {
  const names = await exampleNames()
  if (names.includes(name)) return readExample(name)
  throw new UsageError(`There is no example ${JSON.stringify(name)}; choose one of: ${names.join(', ')}.`)
}

/** Of nodes that start together one installs. */
function installOnce({ applications, database }: Quoin, example: Application): Promise<void> {
  const actor = { guid: '', username: 'quoin command' }
  return database.capabilities.withClusterLock('example', () => installExample(applications, example, actor))
}

/** The address of its page with the shortest path; of the API where it has no pages. */
async function firstPage({ applications, flows }: Quoin, example: Application): Promise<string> {
  const { objects } = await applications.get(nameOfApplication(example)).catch(() => ({ objects: {} }))
  const guids = Object.values(ownedObjectsIn(objects).blueprints)
  const pages = guids.flatMap((guid) => flows.live.table().blueprints.get(guid)?.compiled.pages ?? [])
  const paths = pages.map(({ listening }) => listening.uri).toSorted((a, b) => a.length - b.length)
  return paths[0] === undefined ? '/docs' : `/${paths[0]}`
}

async function listen(
  surroundings: Surroundings,
  options: Options,
  example: Application | undefined,
): Promise<{ quoin: Quoin; address: string }> {
  const quoin = await openQuoin(options, surroundings)
  try {
    if (example) await installOnce(quoin, example)
    return { quoin, address: await quoin.server.listen() }
  } catch (error) {
    await quoin.close()
    throw isNoAddress(error) ? new OptionError(noAddress(options.host)) : error
  }
}

/** The system does not know the name, or no network card of this machine has the address. */
function isNoAddress(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error && 'syscall' in error)) return false
  return error.code === 'EADDRNOTAVAIL' || (error.code === 'ENOTFOUND' && error.syscall === 'getaddrinfo')
}

const noAddress = (host: string) =>
  `QUOIN_HOST is ${JSON.stringify(host)}; it must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all.`

export interface Started {
  readonly address: string
  /** Folder of the embedded database; undefined where the database is a server. */
  readonly data: string | undefined
  /** What it is for: in production nothing is open that was not opened. */
  readonly environment: string
  readonly milliseconds: number
}

/** What a node prints when it is ready: where it is, how to sign in, and one line to try. */
function greeting(
  quoin: Quoin,
  nodes: readonly ClusterNode[] | undefined,
  { address, data, environment, milliseconds }: Started,
): string {
  const { administrator } = quoin
  const { engine } = quoin.database.capabilities
  const place = data === undefined ? clusterWords(engine, nodes ?? []) : `${engine} in ${data}`
  // Its form says then where the password is: no request has to say whether anyone has signed in.
  const fragment = administrator?.password === undefined ? '' : '#first-start'
  const lines = ['', `  Quoin ${quoin.version} is ready (${place}, ${environment}, ${milliseconds} ms)`, '']
  lines.push(
    `    Studio   ${address}/studio${fragment}`,
    `    API      ${address}/api/v1`,
    `    Docs     ${address}/docs`,
  )
  if (administrator?.password !== undefined) {
    lines.push(
      `    Sign in  ${administrator.username} / ${administrator.password}   (shown once, save it now)`,
    )
  } else if (administrator) {
    lines.push(`    Sign in  ${administrator.username} / the password from QUOIN_ADMIN_PASSWORD`)
  }
  const endpoint = [...quoin.flows.live.table().blueprints.values()]
    .flatMap(({ compiled }) => compiled.endpoints)
    .find(({ listening, scopes }) => {
      const open = scopes.length === 0 || scopes.includes('*public')
      return open && listening.method === 'GET' && !listening.uri.includes('{')
    })
  lines.push('', '  Try it:', '', `    curl ${address}/api/v1/${endpoint?.listening.uri ?? 'info'}`, '')
  return lines.join('\n')
}

function clusterWords(engine: string, nodes: readonly ClusterNode[]): string {
  const live = nodes.filter((node) => node.live)
  const name = live.find((node) => node.self)?.name ?? ''
  return `${engine}, node ${name}, ${live.length === 1 ? 'the only one' : `one of ${live.length}`}`
}
