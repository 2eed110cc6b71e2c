/**
 * The cluster of one test of flows: the real program on the embedded engine, in a folder in memory, with nothing in it but the
 * application. Its clock stands still until a test moves it, its randomness is the same each time, its calls of other
 * servers are answered from the test, over a real connection, and its mails are caught where they would be handed over.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { typesIn } from '../../applications/check-application.ts'
import { memoryFolder, readFolder } from '../../applications/read-folder.ts'
import { loadBlocks } from '../../blocks/load-blocks.ts'
import type { CompiledBlueprint } from '../../flows/compile/compile-blueprint.ts'
import { readOptions } from '../../options/options.ts'
import type { TemporaryDatabases } from '../../quoin/open-database.ts'
import { openQuoin, type Quoin } from '../../quoin/quoin.ts'
import { releasers } from '../../quoin/releasers.ts'
import type { Surroundings } from '../../quoin/start.ts'
import { type FoundExtension, folderBlocks } from '../../records/extensions/extension-folder.ts'
import { applicationOf } from '../../shared/application/application-files.ts'
import type { Random } from '../../shared/guid.ts'
import { isJsonObject } from '../../shared/json.ts'
import { matchAll, search } from '../../shared/query.ts'
import type { JobSummary } from '../../storage/job.ts'
import { blocksFor } from '../applications/check-folder.ts'
import type { Terminal } from '../command.ts'
import { readBlueprintFile } from '../read-blueprint-file.ts'
import { runImport } from '../run-import.ts'
import { type AnsweredCalls, answerCalls } from './answered-calls.ts'
import type { RecordedReply } from './scenario-file.ts'

export const ADMIN_PASSWORD = 'correct horse battery staple'
/** The application is installed at this time, so that every test can begin later. */
const INSTALLED = Date.UTC(2000, 0, 1)
const DATABASE_FILE = 'quoin.db'
/** More instants than this in one `advance` are a schedule that is too dense for it. */
const MOST_INSTANTS = 10_000
/** Milliseconds of the real clock for jobs that are due to end. */
const PATIENCE_MS = 10_000

export interface CaughtMail {
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly attachments: readonly string[]
}

export interface ScenarioCluster {
  readonly quoin: Quoin
  readonly calls: AnsweredCalls
  readonly mails: CaughtMail[]
  now(): number
  /** Does all background work that is due. */
  settle(): Promise<void>
  /** Lets time pass, and does at each instant what is due then. */
  advance(milliseconds: number): Promise<void>
  /** A test begins, as if the cluster were opened then. */
  begin(start: ScenarioStart): Promise<void>
  /** Behind a test: as it was before. False where that is not sure; then it is closed. */
  setBack(): Promise<boolean>
  close(): Promise<void>
}

export interface ScenarioStart {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly replies: readonly RecordedReply[]
  /** Servers whose calls are sent: see `hostOf`. */
  readonly live: readonly string[]
}

function optionsIn(folder: string, databaseUrl = '', blocks = '', hosts: readonly string[] = []) {
  return readOptions({
    QUOIN_ALLOWED_HOSTS: hosts.join(','),
    QUOIN_DATA: folder,
    QUOIN_BLOCKS: blocks,
    // Every test opens its pool: fewer connections are made in less time.
    ...(databaseUrl !== '' && { DATABASE_URL: databaseUrl, QUOIN_POOL: '4' }),
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: ADMIN_PASSWORD,
    QUOIN_EXAMPLES: '0',
    QUOIN_LOG_LEVEL: 'silent',
    QUOIN_RATE_LIMIT: '0',
    QUOIN_MAIL_URL: 'smtp://mail.test:25',
    QUOIN_MAIL_FROM: 'app@mail.test',
    QUOIN_PUBLIC_URL: 'http://app.test',
  })
}

function surroundings(clock: () => number, random: Random): Surroundings {
  return {
    clock,
    random,
    synchronous: 'OFF',
    onlyNode: true,
    passwordCost: { memory: 8, passes: 1, parallelism: 1 },
  }
}

/** Seeds: what is drawn in one of these must not come again in another one, or two guids of one instant were the same. */
const EMPTY = 3
const INSTALLING = 4
const OPENING = 1
const TESTING = 2

/** The same bytes in each run (mulberry32), and again after `restart`: nothing of a test is secret. */
function seededRandom(seed: number): { readonly random: Random; restart(seed: number): void } {
  let present = seed
  let round = 0
  let streams = 0

  function stream(): Random {
    streams += 1
    const number = streams
    let [state, begun] = [0, -1]
    const fill: Random = (bytes) => {
      if (begun !== round) state = Math.imul(number, 0x9e3779b1) + present
      begun = round
      for (let at = 0; at < bytes.length; at++) {
        state = (state + 0x6d2b79f5) | 0
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
        bytes[at] = (mixed ^ (mixed >>> 14)) & 0xff
      }
    }
    return Object.defineProperties(fill, { round: { get: () => round }, stream: { value: stream } })
  }

  return {
    random: stream(),
    restart(next) {
      present = next
      round += 1
    },
  }
}

/** A folder that the tests of one application copy: the application installed, and no documents. */
export interface InstalledApplication {
  readonly folder: string
  /** Where the tests run on PostgreSQL: the server, and the database that each test gets a copy of. */
  readonly postgres:
    | {
        readonly server: TemporaryDatabases
        readonly installed: Awaited<ReturnType<TemporaryDatabases['create']>>
      }
    | undefined
  /** Private hosts that its tests may call. */
  readonly hosts: readonly string[]
  /** What the cluster of the last test has compiled, by guid of the blueprint. */
  compiled: ReadonlyMap<string, CompiledBlueprint>
  /** Of the last test, set back. */
  idle: ScenarioCluster | undefined
  remove(): Promise<void>
}

/** Blueprint files, or the folder of an application. */
export type ApplicationSource = { readonly blueprints: readonly string[] } | { readonly folder: string }

interface Installing {
  readonly server?: TemporaryDatabases | undefined
  readonly hosts?: readonly string[] | undefined
}

/** Throws an Error with all problems of the files. */
export async function installApplication(
  source: ApplicationSource,
  terminal: Terminal,
  { server, hosts = [] }: Installing = {},
): Promise<InstalledApplication> {
  const database = await server?.create()
  const folder = await mkdtemp(join(memoryFolder(), 'quoin-tests-'))
  const remove = async () => {
    await installed.idle?.close()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  }
  const made = { folder, hosts, postgres: server && database && { server, installed: database } }
  const installed: InstalledApplication = { ...made, compiled: new Map(), idle: undefined, remove }
  const complaints: string[] = []
  const inside: Terminal = {
    ...terminal,
    options: () => optionsIn(folder, database?.url, terminal.options().blocks),
    clock: () => INSTALLED,
    random: seededRandom(INSTALLING).random,
    print: (text) => void (text.startsWith('refused: ') && complaints.push(text.slice(9))),
    announce: () => undefined,
    complain: (text) => void complaints.push(text),
  }
  try {
    // As a server: a cluster of a test that makes a table when it is opened could not be set back to what is copied here.
    const empty = await openQuoin(
      optionsIn(folder, database?.url),
      surroundings(() => INSTALLED, seededRandom(EMPTY).random),
    )
    try {
      for (const extension of await extensionsOf(source, terminal))
        await empty.extensions.switchOn(extension, { guid: '', username: 'test' })
    } finally {
      await empty.close()
    }
    // Commands on a folder look whether it holds data, and here they work on another server's.
    if (database) await writeFile(join(folder, DATABASE_FILE), '')
    if ('folder' in source) {
      const { runPush } = await import('../applications/run-release.ts')
      const flags = { yes: true, allowLoss: false, withoutSeed: true } as const
      if ((await runPush(source.folder, flags, inside)) !== 0) throw new Error(complaints.join('\n'))
    } else
      for (const file of source.blueprints) {
        const requested = {
          file,
          activate: true,
          replace: false,
          another: false,
          samples: false,
          url: undefined,
        }
        if ((await runImport(requested, inside)) !== 0) throw new Error(complaints.join('\n'))
      }
    return installed
  } catch (error) {
    await remove()
    throw error
  }
}

/** Those whose blocks it uses: in the clusters of its tests they are switched on. */
async function extensionsOf(
  source: ApplicationSource,
  { options }: Terminal,
): Promise<readonly FoundExtension[]> {
  if ('folder' in source) {
    const { application } = applicationOf(await readFolder(source.folder))
    return (await blocksFor(source.folder, application, options().blocks)).used
  }
  const read = await Promise.all(source.blueprints.map((file) => readBlueprintFile(file)))
  const files = read.flatMap((file, at) => (isJsonObject(file) ? [[String(at), file] as const] : []))
  const types = typesIn({ blueprints: Object.fromEntries(files) })
  return (await folderBlocks([options().blocks], await loadBlocks(), types)).used
}

type Content = Parameters<NonNullable<Surroundings['handOver']>>[0]

function caughtMail({ to, cc, subject, text, html, attachments = [] }: Content): CaughtMail {
  return {
    to: addresses(to),
    cc: addresses(cc),
    subject: subject ?? '',
    text: typeof text === 'string' ? text : '',
    html: typeof html === 'string' ? html : '',
    attachments: attachments.map(({ filename }) => String(filename)),
  }
}

function addresses(input: Content['to']): string[] {
  const each = (one: NonNullable<Content['to']>): string[] =>
    typeof one === 'string' ? [one] : Array.isArray(one) ? one.flatMap(each) : [one.address ?? '']
  return input === undefined ? [] : each(input)
}

/** Whether a test that begins at this time may share a cluster: in a time before the installation new documents count on from that one. */
export function isShareable(now: number): boolean {
  return now > INSTALLED
}

/** The one of the last test where it could be set back, else a new one; always a new one where it is not shared. */
export async function takeCluster(
  application: InstalledApplication,
  start: ScenarioStart,
  isShared: boolean,
): Promise<ScenarioCluster> {
  const known = isShared ? application.idle : undefined
  if (known) application.idle = undefined
  const cluster = known ?? (await openCluster(application, start.now))
  try {
    await cluster.begin(start)
    return cluster
  } catch (error) {
    await cluster.close()
    throw error
  }
}

/** Behind a test that passed. One that failed may have left behind what is not looked for. */
export async function giveBack(application: InstalledApplication, cluster: ScenarioCluster): Promise<void> {
  // A failure of it is no failure of the test: the next one has a new cluster.
  const isBack = application.idle === undefined && (await cluster.setBack().catch(() => false))
  if (isBack) application.idle = cluster
  else await cluster.close()
}

async function openCluster(application: InstalledApplication, start: number): Promise<ScenarioCluster> {
  const own = await mkdtemp(join(memoryFolder(), 'quoin-test-'))
  const opened = releasers()
  opened.add(() => rm(own, { recursive: true, force: true }))
  const mails: CaughtMail[] = []
  const { random, restart } = seededRandom(OPENING)
  let now = start
  try {
    await cp(application.folder, own, { recursive: true })
    const database = await application.postgres?.server.create(application.postgres.installed)
    if (database) opened.add(database.drop)
    const calls = await answerCalls()
    opened.add(calls.close)
    const quoin = await openQuoin(optionsIn(own, database?.url, '', application.hosts), {
      ...surroundings(() => now, random),
      compiledBefore: application.compiled,
      calls: calls.agent,
      handOver: async (content) => {
        mails.push(caughtMail(content))
        return []
      },
    })
    opened.add(quoin.close)
    const { blueprints } = quoin.flows.live.table()
    application.compiled = new Map([...blueprints].map(([guid, { compiled }]) => [guid, compiled]))
    const { settle, nextInstant } = backgroundWork(quoin, () => now)
    const advance = async (milliseconds: number) => {
      const until = now + milliseconds
      for (let instants = 0; ; instants++) {
        const next = await nextInstant(until)
        if (next === undefined) break
        if (instants === MOST_INSTANTS)
          throw new Error(`More than ${MOST_INSTANTS} things happen in this time. Advance by less.`)
        now = next
        await settle()
      }
      now = until
      await settle()
    }
    return {
      ...{ quoin, calls, mails, now: () => now, settle, advance },
      async begin({ now: begins, replies, live }) {
        now = begins
        // As where a cluster was opened just now: its schedules are planned before a test draws its first byte.
        restart(OPENING)
        await quoin.background.scheduler?.check()
        restart(TESTING)
        mails.length = 0
        await calls.begin(replies, live)
      },
      setBack: () => quoin.setBack(join(application.folder, DATABASE_FILE)),
      close: opened.release,
    }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/** What happens without a request, done when the test says so. */
function backgroundWork(quoin: Quoin, now: () => number) {
  const { background, database } = quoin
  const { jobs } = database.capabilities

  async function live(): Promise<readonly JobSummary[]> {
    const query = { kind: 'terms', field: 'status', values: ['waiting', 'running'] } as const
    // What is due first, however many follow.
    const sort = [{ field: 'scheduled_for', order: 'asc', missing: 'last' }] as const
    return (await jobs.search(search({ query, sort, limit: 1_000 }))).records
  }

  async function settle(): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    let quiet = 0
    await background.scheduler?.check()
    for (let looks = 0; quiet < 3; looks++) {
      background.queue?.check()
      // Most jobs are over in a few turns of the event loop; what waits for a connection is not asked for all the time.
      await (looks < 20 ? new Promise<void>((resolve) => setImmediate(resolve)) : setTimeout(2))
      quiet = background.queue?.running === 0 ? quiet + 1 : 0
      const isLate = performance.now() > until
      if (quiet < 3 && !isLate) continue
      const due = (await live()).filter(({ state, runAt }) => state === 'running' || runAt <= now())
      if (due.length > 0) quiet = 0
      if (isLate && due.length > 0)
        throw new Error(`Jobs that are due do not end: ${due.map(({ title }) => title).join(', ')}.`)
    }
  }

  async function nextInstant(until: number): Promise<number | undefined> {
    const due = (await live()).map(({ runAt }) => runAt)
    const planned = await background.scheduler?.searchSchedules(search({ query: matchAll, limit: 1_000 }))
    for (const { next_at } of planned?.records ?? [])
      if (typeof next_at === 'number') due.push(next_at * 1000)
    const later = due.filter((time) => time > now() && time <= until)
    return later.length === 0 ? undefined : Math.min(...later)
  }

  return { settle, nextInstant }
}
