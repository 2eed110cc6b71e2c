/** A space that is open: how it is opened, what is going on in it, and when it has something to do. */
import type { Server as HttpServer, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Access } from '../access/access.ts'
import type { FirstAdministrator } from '../access/first-administrator.ts'
import type { Applications } from '../applications/applications.ts'
import type { Flows } from '../flows/flows.ts'
import { RunningFlow } from '../flows/run/running-flow.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import { stuckDirectory } from '../flows/watchdog/stuck-flows.ts'
import type { CreatedSpace, FirstUser, ManagedSpaces } from '../http/routes/operate/spaces.ts'
import type { Server } from '../http/server/server.ts'
import type { Options } from '../options/options.ts'
import { plannedTimes } from '../queue/planned-times.ts'
import type { Backups } from '../records/backups/backups.ts'
import type { Actor } from '../records/records.ts'
import type { OptionSettings } from '../records/settings/option-settings.ts'
import type { NewSpace, Preview, Space } from '../records/spaces.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { SpaceHealth, SpaceQuotas, SpaceUsage } from '../shared/api/operate/spaces.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject } from '../shared/json.ts'
import { search } from '../shared/query.ts'
import type { Database } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { documentsOf } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { Background } from './background.ts'
import type { SetStart } from './open-settings.ts'
import { spaceOptions } from './space-options.ts'
import type { SpaceHost, Surroundings } from './start.ts'

/** What is asked of `openQuoin` for a space. */
export interface SpaceNode {
  readonly runs: Pick<Runs, 'underWay'>
  readonly background: Pick<Background, 'queue'>
  readonly isPurging: () => boolean
  readonly backups: Backups | undefined
  readonly database: Database
  readonly settings: Pick<OptionSettings, 'get'>
  readonly server: Pick<Server, 'app'>
  readonly administrator: FirstAdministrator | undefined
  readonly access: Pick<Access, 'links' | 'createUser'>
  readonly flows: Pick<Flows, 'environmentValues'>
  readonly applications: Pick<Applications, 'plan' | 'push'>
  readonly usage: (() => Promise<SpaceUsage>) | undefined
  close(): Promise<void>
}

export interface SpaceOpener<Node> {
  readonly start: SetStart
  /** Of the process. */
  readonly running: RunningFlow
  readonly open: (options: Options, surroundings: Surroundings) => Promise<Node>
}

export interface SpacesOptions<Node> extends SpaceOpener<Node> {
  /** Of the operator. */
  readonly database: Database
  readonly log: Pick<SystemLog, 'write'>
  readonly newGuid: () => string
  /** Before a space is opened for the first time. */
  readonly makeData: (guid: string) => Promise<void>
  /** Whether what it has stored is gone: opened all the same, it would begin again, without its users. */
  readonly lacksData: (guid: string) => boolean
  /** Deletes all that a space has stored. */
  readonly dropData: (guid: string) => Promise<void>
}

export type Prepare<Node> = (quoin: Node) => Promise<void>

export interface Spaces<Node> extends ManagedSpaces {
  /** Requests for the host of a space go to it from now on. */
  route(server: HttpServer): void
  /** The space, opened if it is not. For tests, and for work that no request asks for. */
  enter(name: string): Promise<Node>
  /** The same, and it stays open while the work is under way. */
  during<T>(name: string, work: (node: Node) => Promise<T>): Promise<T>
  /** As an operator does, without hosts and with what is done before it is active: should that fail, nothing is left of it. */
  create(input: NewSpace, first: FirstUser, by: Actor, prepare?: Prepare<Node>): Promise<CreatedSpace>
  previews(): readonly Space[]
  /** Moves the end of a preview. */
  extend(guid: string, preview: Preview, by: Actor): Promise<Space>
  /** Closes what is idle, and opens what is due. It is done by itself; a test that moves the clock calls it. */
  check(): Promise<void>
  close(): Promise<void>
}

/** Counts the requests that are under way in it. */
export class OpenSpace<Node extends SpaceNode> {
  readonly space: Space
  readonly quoin: Node
  requests = 0
  /** When it was used last, or looked at because work was due soon. */
  used: number
  readonly #idle: Set<() => void>

  constructor(space: Space, quoin: Node, used: number, idle: Set<() => void>) {
    this.space = space
    this.quoin = quoin
    this.used = used
    this.#idle = idle
  }

  /** It is not closed for want of requests meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.requests += 1
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    this.requests -= 1
    if (this.requests > 0) return
    for (const drained of this.#idle) drained()
    this.#idle.clear()
  }

  /** Gives what answers the request. */
  count(response: ServerResponse, now: number): HttpServer {
    const { server } = this.quoin.server.app
    this.used = now
    // A client that left while the space was opened: its end was told before.
    if (response.destroyed) return server
    this.requests += 1
    response.once('close', () => this.#leave())
    return server
  }
}

export async function openSpace<Node extends SpaceNode>(
  { start, running, open }: SpaceOpener<Node>,
  space: Space,
  quotas: () => SpaceQuotas,
  adminPassword: string,
): Promise<OpenSpace<Node>> {
  const { options, set, clock, random, synchronous, passwordCost } = start
  const isClosed = space.preview?.outside === false
  const { calls, handOver } = isClosed ? { calls: undefined, handOver: async () => [] } : start
  const idle = new Set<() => void>()
  const host: SpaceHost = {
    ...{ guid: space.guid, name: space.name, quotas, isClosed },
    ...{ watchOptions: set.watch, inherited: set.stored },
    options: () => spaceOptions(set.present(), space),
    running: new RunningFlow(running, space.guid),
    stuck: stuckDirectory(options.data),
    drained: (milliseconds) =>
      opened.requests === 0
        ? Promise.resolve()
        : Promise.race([
            new Promise<void>((resolve) => idle.add(resolve)),
            pause(milliseconds, undefined, { ref: false }),
          ]),
  }
  const quoin = await open(
    { ...spaceOptions(set.present(), space), adminPassword },
    {
      ...{ clock, random, space: host },
      ...(synchronous && { synchronous }),
      ...(passwordCost && { passwordCost }),
      ...(calls && { calls }),
      ...(handOver && { handOver }),
    },
  )
  const opened = new OpenSpace(space, quoin, clock(), idle)
  return opened
}

export function unavailable(message: string): QuoinError {
  return new QuoinError('UNAVAILABLE', message, { retryAfter: 1 })
}

/**
 * Places of which so many are taken at once, by key, and `share` of them by one client at most. Gives what takes one, or refuses; that gives
 * what leaves it. A client that is undefined stands for many.
 */
export function sharedPlaces({
  most,
  share,
  what,
}: {
  readonly most: number
  readonly share: number
  readonly what: string
}): (key: string, client: string | undefined) => () => void {
  const taken = new Map<string, number>()
  const add = (key: string, more: number) => {
    const now = (taken.get(key) ?? 0) + more
    if (now > 0) taken.set(key, now)
    else taken.delete(key)
  }
  return (key, client) => {
    if ((taken.get(key) ?? 0) >= most) throw unavailable(`Too many ${what}.`)
    const keys = client === undefined ? [key] : [key, `${key} ${client}`]
    if (keys.slice(1).some((own) => (taken.get(own) ?? 0) >= share))
      throw new QuoinError('RATE_LIMITED', `Too many ${what} for your address. Wait and try again.`, {
        retryAfter: 1,
      })
    for (const one of keys) add(one, 1)
    return () => {
      for (const one of keys) add(one, -1)
    }
  }
}

/** Who is invited gets in by the mail alone: the password of `admin` is not shown then. */
export async function firstUser(
  { administrator, access }: SpaceNode,
  { email }: FirstUser,
  { username: inviter }: Actor,
): Promise<CreatedSpace['administrator']> {
  const { username = 'admin', password = null } = administrator ?? {}
  if (email === undefined) return { username, password }
  const by = { guid: '', username: inviter, scopes: new Set(['*']), user: {}, tokenGuid: '' }
  const invited = await access.links.invite({ email, custom_scopes: ['*'] }, by)
  return { username: textIn(invited.username), password: null }
}

/** Begins one. CONFLICT where the database makes none. */
export async function beginBackup({ backups }: SpaceNode): Promise<{ name: string; folder: string }> {
  if (!backups)
    throw new QuoinError(
      'CONFLICT',
      'On PostgreSQL use pg_dump with the database of the space (docs/spaces.md).',
    )
  const name = await backups.make('hand')
  return { name, folder: `${backups.folder}/${name}` }
}

const MOST_SHOWN = 50

type SpaceError = SpaceHealth['error']

export function unread(health: SpaceHealth['health'], error: SpaceError): SpaceHealth {
  return { health, error, jobs: { waiting: 0, running: 0, dead: 0 }, failed_jobs: [], problems: [] }
}

/** What an operator sees of it: no text that a flow or a user may have written. */
export async function healthOf({ database }: SpaceNode, error: SpaceError): Promise<SpaceHealth> {
  const { jobs, queues } = database.capabilities
  const count = { waiting: 0, running: 0, dead: 0 }
  for (const { waiting, running, dead } of await queues.list()) {
    count.waiting += waiting
    count.running += running
    count.dead += dead
  }
  const query = { kind: 'term', field: 'status', value: 'dead' } as const
  const { records } = await jobs.search(search({ query, limit: MOST_SHOWN }))
  const problems = [...(await loggedIn(database, 'error')), ...(await loggedIn(database, 'warn'))]
  return {
    ...{ health: 'open', error, jobs: count },
    failed_jobs: records.map(({ guid, queue, kind, attempt, finished, failedIn }) => ({
      ...{ guid, queue, type: kind, attempts: attempt, failed_at: Math.floor((finished ?? 0) / 1000) },
      ...{ run: failedIn?.run ?? '', blueprint: failedIn?.blueprint ?? '', block: failedIn?.block ?? '' },
    })),
    problems: problems.toSorted((a, b) => b.at - a.at).slice(0, MOST_SHOWN),
  }
}

/** The newest of one level: its index gives them without the others being sorted. */
async function loggedIn(database: Database, level: 'error' | 'warn') {
  const found = await database.session().find(
    systemStorages.systemLogs,
    search({
      query: { kind: 'term', field: 'level', value: level },
      sort: [{ field: '_meta.created', order: 'desc', missing: 'last' }],
      limit: MOST_SHOWN,
    }),
  )
  return documentsOf(found).map((record) => ({
    ...{ guid: guidOf(record), level, at: isJsonObject(record._meta) ? numberIn(record._meta.created) : 0 },
    ...{ run: textIn(record.run), blueprint: textIn(record.blueprint), block: textIn(record.block) },
  }))
}

/** Whether what an open space was opened with holds no longer. `present` is undefined when it is gone. */
export function isOutdated(opened: Space, present: Space | undefined): boolean {
  if (present === undefined) return true
  const { state, title, hosts, preview } = present
  if (state === 'creating') return false
  if (state !== 'active' || title !== opened.title || hosts[0] !== opened.hosts[0]) return true
  return preview?.outside !== opened.preview?.outside
}

/** What is due and does not run waits: a job for another one, or for a queue that is paused. */
const STUCK_MS = 60_000

/** Whether something goes on in it that no request waits for. */
export function isBusy({ runs, background, backups, isPurging }: SpaceNode): boolean {
  if (runs.underWay() > 0 || (background.queue?.running ?? 0) > 0) return true
  return backups?.running() !== undefined || isPurging()
}

/** Of those that nothing keeps open. */
export function longestUnused<Node extends SpaceNode>(
  opened: Iterable<OpenSpace<Node>>,
): OpenSpace<Node> | undefined {
  const free = [...opened].filter((one) => one.requests === 0 && !isBusy(one.quoin))
  return free.toSorted((a, b) => a.used - b.used)[0]
}

/** When the next one that is closed is due, in milliseconds since 1970; infinite for none. */
export function nextWaking(spaces: Iterable<Space>): number {
  let next = Number.POSITIVE_INFINITY
  for (const { nodes, state, wakesAt } of spaces)
    if (nodes.length === 0 && state === 'active') next = Math.min(next, wakesAt * 1000)
  return next
}

/** Whether it is a preview whose time has passed. */
export function isOver({ preview }: Space, now: number): boolean {
  return preview !== undefined && preview.until * 1000 <= now
}

/** When something is to be done that no request asks for, in milliseconds since 1970; infinite for never. */
export async function nextWork(
  { database, settings }: SpaceNode,
  timeZone: string,
  now: number,
): Promise<number> {
  const { jobs } = database.capabilities
  const waiting = await jobs.search(
    search({
      query: { kind: 'term', field: 'status', value: 'waiting' },
      sort: [{ field: 'scheduled_for', order: 'asc', missing: 'last' }],
      limit: 1,
    }),
  )
  const planned = await database.session().find(
    systemStorages.schedules,
    search({
      query: { kind: 'exists', field: 'next_at' },
      sort: [{ field: 'next_at', order: 'asc', missing: 'last' }],
      limit: 1,
    }),
  )
  const schedules = documentsOf(planned).map((record) => numberIn(record.next_at) * 1000)
  const times = [...waiting.records.map(({ runAt }) => runAt), ...schedules]
  const cron = settings.get('QUOIN_BACKUP_SCHEDULE').value ?? ''
  const backup = cron === '' ? undefined : plannedTimes({ cron, timeZone })?.next(now)
  const due = times.map((time) => (time <= now ? now + STUCK_MS : time))
  return Math.min(...due, backup ?? Number.POSITIVE_INFINITY)
}

/** Each space is opened once a day, for what is deleted after a time and for its audit log. */
const DAY_MS = 86_400_000

/** When one that is closed now is to be opened, or 0, at once: what is under way in it may leave work that is not there yet. */
export async function nextOpening<Node extends SpaceNode>(
  opened: OpenSpace<Node>,
  timeZone: string,
  now: number,
): Promise<number> {
  const isUsed = () => opened.requests > 0 || isBusy(opened.quoin)
  const wasUsed = isUsed()
  const next = await nextWork(opened.quoin, timeZone, now)
  return wasUsed || isUsed() ? 0 : Math.min(now + DAY_MS, next)
}
