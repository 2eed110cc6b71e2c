/**
 * The spaces that this node has open. A space is a Quoin of its own in the same process: its database, caches, jobs, streams and keys are
 * objects that no other space has.
 *
 * A space is
 * - closed: the directory says when work of it is due. The node that leads the cluster opens it then.
 * - opening: requests for it wait. Spaces are opened one after the other, with pauses, so that others are served meanwhile.
 * - open: it counts its requests. Runs, jobs and streams of it keep it open, and so does work that is due soon.
 * - closing: requests under way end; those for it wait until it is closed, and open it again.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { countedClient } from '../http/limits/client-address.ts'
import type { CreatedSpace, FirstUser, SpaceUpdate } from '../http/routes/operate/spaces.ts'
import { mountPreview, previewSegment } from '../http/server/mounted-preview.ts'
import { spaceRouter } from '../http/server/space-router.ts'
import { type PeriodicTask, periodicTask } from '../records/periodic-task.ts'
import { type Actor, SYSTEM } from '../records/records.ts'
import {
  type NewSpace,
  openSpaceDirectory,
  type Preview,
  type Space,
  type SpaceDirectory,
} from '../records/spaces.ts'
import type { SpaceHealth, SpaceUsage } from '../shared/api/operate/spaces.ts'
import { hasPassed } from '../shared/clock.ts'
import { oneAtATime } from '../shared/cooperative.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import { isLeader } from '../storage/capabilities.ts'
import { guidOf } from '../storage/document-fields.ts'
import {
  beginBackup,
  firstUser,
  healthOf,
  isBusy,
  isOutdated,
  isOver,
  longestUnused,
  nextOpening,
  nextWaking,
  nextWork,
  type OpenSpace,
  openSpace,
  type Prepare,
  type SpaceNode,
  type Spaces,
  type SpacesOptions,
  sharedPlaces,
  unavailable,
  unread,
} from './space-work.ts'

const SECOND = 1_000
/** A space that nothing has used for so long is closed, unless work of it is due within the same time. */
const IDLE_MS = 300 * SECOND
const LOOK_MS = 5 * SECOND
/** Before one that could not be opened or deleted is tried again without a request. */
const AGAIN_MS = 300 * SECOND
/** Of requests for one space that is not open: those for other spaces are no fewer for it. One client has a half at most. */
const waitingRequests = { most: 64, share: 32, what: 'requests wait for this space to open' }
/** Of spaces that wait to be opened, one after the other: the last of them still comes within seconds, and one client delays it little. */
const waitingSpaces = { most: 32, share: 4, what: 'spaces are being opened' }
const MOST_PAUSE_MS = 250
/** For the other nodes, to close a space that is removed. */
const REMOVED_MS = 15 * SECOND

export async function openSpaces<Node extends SpaceNode>(
  options: SpacesOptions<Node>,
): Promise<Spaces<Node>> {
  const { start, database } = options
  const isReserved = (host: string) =>
    isIP(host) !== 0 || host === URL.parse(start.set.present().publicUrl)?.hostname
  return new NodeSpaces(options, await openSpaceDirectory(database, isReserved))
}

class NodeSpaces<Node extends SpaceNode> implements Spaces<Node> {
  readonly #options: SpacesOptions<Node>
  readonly #directory: SpaceDirectory
  /** This process, among those that the directory names. */
  readonly #node: string
  readonly #open = new Map<string, OpenSpace<Node>>()
  readonly #opening = new Map<string, Promise<OpenSpace<Node>>>()
  readonly #closing = new Map<string, Promise<void>>()
  readonly #dropping = new Map<string, Promise<void>>()
  /** Until when those that could not be opened or deleted are not tried again: each try writes to the directory and the log. */
  readonly #failed = new Map<string, number>()
  /** Why it was so the last time, by space. */
  readonly #errors = new Map<string, NonNullable<SpaceHealth['error']>>()
  readonly #inTurn = oneAtATime()
  readonly #unwatch: () => void
  #follow: (() => void) | undefined
  #looks: PeriodicTask<void> | undefined
  readonly #clientOf: ReturnType<typeof countedClient>
  /** Of requests, by space. */
  readonly #waiting = sharedPlaces(waitingRequests)
  readonly #openings = sharedPlaces(waitingSpaces)
  /** Until when what is due is not looked for, as another node opens it or there is no place. */
  #resting = 0
  /** How many are being made here. */
  #making = 0
  #isClosed = false

  constructor(options: SpacesOptions<Node>, directory: SpaceDirectory) {
    this.#options = options
    this.#directory = directory
    this.#clientOf = countedClient(options.start.options.trustProxy)
    this.#node = options.database.capabilities.cluster?.self ?? options.newGuid()
    this.#unwatch = directory.watch(() => this.#changed())
    this.#changed()
  }

  route(server: HttpServer): void {
    const router = spaceRouter(server, (...asked) => this.#enterBy(...asked))
    this.#follow = () => router.follow(this.#directory.present().ofGuid.size > 0)
    this.#follow()
  }

  async enter(name: string): Promise<Node> {
    return (await this.#entered(name)).quoin
  }

  async during<T>(name: string, work: (node: Node) => Promise<T>): Promise<T> {
    const opened = await this.#entered(name)
    return opened.during(() => work(opened.quoin))
  }

  async #entered(name: string): Promise<OpenSpace<Node>> {
    const space = [...this.#directory.present().ofGuid.values()].find((one) => one.name === name)
    if (!space) throw new QuoinError('NOT_FOUND', `There is no space ${JSON.stringify(name)}.`)
    return this.#opened(space)
  }

  check(): Promise<void> {
    return this.#looks?.run() ?? Promise.resolve()
  }

  get(guid: string): Promise<JsonObject> {
    return this.#directory.get(guid)
  }

  async create(input: NewSpace, first: FirstUser, by: Actor, prepare?: Prepare<Node>): Promise<CreatedSpace> {
    let guid: string | undefined
    this.#making += 1
    try {
      guid = guidOf(await this.#directory.create(input, this.#node, by))
      return await this.#fill(guid, first, by, prepare)
    } catch (error) {
      if (guid !== undefined) {
        // Open still: another node would delete what this one writes.
        await this.#close(guid)
        await this.#noteClosed(guid, 0)
        // What fails here the node that leads the cluster does again.
        await this.#removeData(guid, by).catch((failed: unknown) =>
          this.#write(`Not deleted: ${String(failed)}`),
        )
      }
      throw error
    } finally {
      this.#making -= 1
    }
  }

  async #fill(guid: string, first: FirstUser, by: Actor, prepare?: Prepare<Node>): Promise<CreatedSpace> {
    await this.#options.makeData(guid)
    const opened = await this.#inTurn('open', () => this.#begin(this.#known(guid), first.password))
    if (prepare) await opened.during(() => prepare(opened.quoin))
    const administrator = await firstUser(opened.quoin, first, by)
    return { space: await this.#directory.update(guid, { state: 'active' }, by), administrator }
  }

  async update(guid: string, { suspended, ...changes }: SpaceUpdate, by: Actor): Promise<JsonObject> {
    const state = suspended === undefined ? undefined : suspended ? 'suspended' : 'active'
    return this.#directory.update(guid, { ...changes, ...(state && { state }) }, by)
  }

  previews(): readonly Space[] {
    return [...this.#directory.present().ofPath.values()]
  }

  async extend(guid: string, preview: Preview, by: Actor): Promise<Space> {
    await this.#directory.update(guid, { preview }, by)
    return this.#known(guid)
  }

  async remove(guid: string, confirm: string, by: Actor): Promise<void> {
    const { name } = await this.#directory.get(guid)
    if (confirm !== name)
      throw invalidField('confirm', `confirm must be the name of the space, ${JSON.stringify(name)}.`)
    await this.#directory.update(guid, { state: 'removing' }, by)
    await this.#removeData(guid, by)
  }

  async usage(guid: string): Promise<SpaceUsage> {
    const { quoin } = await this.#opened(this.#known(guid))
    return (await quoin.usage?.()) ?? { documents: 0, bytes: 0, runs: 0, jobs: 0 }
  }

  async backup(guid: string): Promise<{ name: string; folder: string }> {
    return beginBackup((await this.#opened(this.#known(guid))).quoin)
  }

  async health(guid: string): Promise<SpaceHealth> {
    const space = this.#known(guid)
    const last = () => this.#errors.get(guid) ?? null
    if (space.state !== 'active') return unread(this.isFailing(guid) ? 'broken' : 'closed', last())
    try {
      const opened = await this.#opened(space)
      return await opened.during(() => healthOf(opened.quoin, last()))
    } catch (error) {
      if (!(error instanceof QuoinError)) this.#noteFailure(space, 'read', error)
      else if (!this.isFailing(guid)) throw error
      return unread('broken', last())
    }
  }

  isFailing(guid: string): boolean {
    return this.#failed.has(guid) && this.#directory.present().ofGuid.has(guid) && !this.#opening.has(guid)
  }

  failing(): number {
    return [...this.#failed.keys()].filter((guid) => this.isFailing(guid)).length
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unwatch()
    await this.#looks?.close()
    await Promise.allSettled(this.#opening.values())
    for (const guid of this.#open.keys()) void this.#close(guid)
    await Promise.all([...this.#closing.values(), ...this.#dropping.values()])
    this.#directory.close()
  }

  /** Undefined for a host of no space. */
  #enterBy(
    host: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): MaybePromise<HttpServer> | undefined {
    const space = this.#directory.present().ofHost.get(host) ?? this.#mounted(request, response)
    if (!space) return undefined
    if ('then' in space) return space
    const known = space.state === 'active' ? this.#open.get(space.guid) : undefined
    return known
      ? known.count(response, this.#now())
      : this.#enterLater(space, this.#clientOf(request), response)
  }

  /** The preview that the path is of. Its server sees the path below the prefix. */
  #mounted(request: IncomingMessage, response: ServerResponse): Space | Promise<never> | undefined {
    const segment = previewSegment(request.url ?? '')
    const space = segment === undefined ? undefined : this.#directory.present().ofPath.get(segment)
    if (!space || isOver(space, this.#now())) return undefined
    if (mountPreview(request, response, space.name)) return space
    return Promise.reject(new QuoinError('NOT_FOUND', 'A preview does not serve this.'))
  }

  async #enterLater(space: Space, client: string | undefined, response: ServerResponse): Promise<HttpServer> {
    const leave = this.#waiting(space.guid, client)
    try {
      return (await this.#opened(space, client)).count(response, this.#now())
    } finally {
      leave()
    }
  }

  /** UNAVAILABLE for one that is not active, and when there is no place for it. `client`: who asks for it, where that is one. */
  async #opened({ guid, state }: Space, client?: string): Promise<OpenSpace<Node>> {
    if (state !== 'active') throw unavailable('This space is not available.')
    const known = this.#open.get(guid)
    if (known) return known
    const under = this.#opening.get(guid)
    if (under) return under
    if (this.#now() < (this.#failed.get(guid) ?? 0)) throw unavailable('This space cannot be opened.')
    const leave = this.#openings('', client)
    const opening = this.#beginLater(guid)
    this.#opening.set(guid, opening)
    const over = () => {
      this.#opening.delete(guid)
      leave()
    }
    opening.then(over, over)
    return opening
  }

  /** Behind its own end, for which no other space waits: requests that are under way have seconds for it. */
  async #beginLater(guid: string): Promise<OpenSpace<Node>> {
    await this.#closing.get(guid)
    return this.#inTurn('open', () => this.#begin(this.#known(guid)))
  }

  /** One after the other. */
  async #begin(space: Space, adminPassword = ''): Promise<OpenSpace<Node>> {
    const { guid } = space
    if (this.#isClosed) throw unavailable('This node is stopping.')
    await this.#makeRoom()
    const began = performance.now()
    await this.#directory.noteOpened(guid, this.#node)
    try {
      this.#failed.set(guid, this.#now() + LOOK_MS)
      if (space.state === 'active' && this.#options.lacksData(guid)) throw new Error('its data is gone')
      const quotas = () => (this.#directory.present().ofGuid.get(guid) ?? space).quotas
      const opened = await openSpace(this.#options, space, quotas, adminPassword)
      this.#failed.delete(guid)
      this.#open.set(guid, opened)
      if (!isOutdated(space, this.#directory.present().ofGuid.get(guid))) return opened
      void this.#close(guid)
      throw unavailable('This space was changed while it was opened.')
    } catch (error) {
      if (!this.#closing.has(guid)) await this.#noteClosed(guid, this.#now() + AGAIN_MS)
      this.#noteFailure(space, 'opened', error)
      throw error instanceof QuoinError && error.status < 500
        ? error
        : unavailable('This space cannot be opened.')
    } finally {
      const took = Math.min(performance.now() - began, MOST_PAUSE_MS)
      void this.#inTurn('open', () => pause(took))
    }
  }

  /** Closes the one that was used longest ago, as often as it takes. */
  async #makeRoom(): Promise<void> {
    const { spacesOpen } = this.#options.start.options
    while (this.#open.size >= spacesOpen) {
      const oldest = longestUnused(this.#open.values())
      if (!oldest) throw unavailable('All spaces that are open are busy.')
      await this.#close(oldest.space.guid)
    }
  }

  #close(guid: string): Promise<void> {
    const opened = this.#open.get(guid)
    if (!opened) return this.#closing.get(guid) ?? Promise.resolve()
    this.#open.delete(guid)
    const closing = this.#end(opened).finally(() => this.#closing.delete(guid))
    this.#closing.set(guid, closing)
    return closing
  }

  /** Never rejects. */
  async #end(opened: OpenSpace<Node>): Promise<void> {
    const { space, quoin } = opened
    const now = this.#now()
    let due = 0
    try {
      due = await nextOpening(opened, this.#options.start.options.timeZone, now)
    } catch (error) {
      this.#write(`When work of the space ${space.name} is due could not be read: ${String(error)}`)
    }
    try {
      await quoin.close()
    } catch (error) {
      this.#write(`The space ${space.name} was not closed well: ${String(error)}`)
    }
    await this.#noteClosed(space.guid, due)
  }

  /** Never rejects. What is not noted is noted by a later look. */
  async #noteClosed(guid: string, due: number): Promise<void> {
    try {
      await this.#directory.noteClosed(guid, this.#node, Math.ceil(due / SECOND))
    } catch (error) {
      this.#write(`That the space ${guid} is closed could not be written: ${String(error)}`)
    }
  }

  #changed(): void {
    this.#follow?.()
    const { ofGuid } = this.#directory.present()
    if (ofGuid.size === 0 || this.#isClosed) return
    this.#looks ??= periodicTask(
      () => this.#untilNext(),
      () =>
        this.#look().catch((error: unknown) =>
          this.#write(`Spaces could not be looked after: ${String(error)}`),
        ),
    )
    for (const { space } of this.#open.values())
      if (isOutdated(space, ofGuid.get(space.guid))) void this.#close(space.guid)
  }

  #untilNext(): number {
    const next = Math.min(this.#now() + LOOK_MS, nextWaking(this.#directory.present().ofGuid.values()))
    return Math.max(Math.max(next, this.#resting) - this.#now(), 50)
  }

  async #look(): Promise<void> {
    const now = this.#now()
    for (const opened of [...this.#open.values()]) await this.#closeIdle(opened, now)
    for (const space of this.#directory.present().ofGuid.values()) await this.#settle(space)
    const { cluster } = this.#options.database.capabilities
    if (!(await isLeader({ cluster }))) {
      this.#resting = now + LOOK_MS
      return
    }
    const live = new Set((await cluster?.nodes())?.flatMap((node) => (node.live ? [node.guid] : [])))
    await this.#directory.forgetNodes((node) => node === this.#node || live.has(node))
    for (const space of this.#directory.present().ofGuid.values()) {
      if (this.#isClosed) return
      if (isOver(space, this.#now()) && (space.state === 'active' || space.state === 'suspended'))
        this.#dropLater(space, () => this.remove(space.guid, space.name, SYSTEM))
      else if (space.nodes.length > 0) continue
      // What was left of a creation or a removal that did not end.
      else if (space.state === 'removing' || space.state === 'creating')
        this.#dropLater(space, () => this.#drop(space.guid, SYSTEM))
      else if (space.state === 'active' && space.wakesAt * SECOND <= now) await this.#wake(space)
    }
  }

  /** Never rejects: one whose database cannot be read does not hinder the others. */
  async #closeIdle(opened: OpenSpace<Node>, now: number): Promise<void> {
    const { space, quoin } = opened
    if (opened.requests > 0 || !hasPassed(IDLE_MS, opened.used, now) || isBusy(quoin)) return
    try {
      const next = await nextWork(quoin, this.#options.start.options.timeZone, now)
      if (next < now + IDLE_MS) opened.used = now
      else await this.#close(space.guid)
    } catch (error) {
      opened.used = now
      this.#write(`When work of the space ${space.name} is due could not be read: ${String(error)}`)
    }
  }

  /** One that is closed here though the directory says otherwise: that could not be written, so nothing would wake it. */
  async #settle({ guid, state, nodes }: Space): Promise<void> {
    if (this.#isClosed || !nodes.includes(this.#node) || (state === 'creating' && this.#making > 0)) return
    if (this.#open.has(guid) || this.#opening.has(guid) || this.#closing.has(guid)) return
    const settled = this.#noteClosed(guid, 0).finally(() => this.#closing.delete(guid))
    this.#closing.set(guid, settled)
    await settled
  }

  /** Others do not wait for it. */
  #dropLater({ guid, name }: Space, drop: () => Promise<void>): void {
    if (this.#dropping.has(guid) || this.#now() < (this.#failed.get(guid) ?? 0)) return
    const dropped = drop()
      .catch((error: unknown) => {
        this.#failed.set(guid, this.#now() + AGAIN_MS)
        this.#noteFailure({ guid, name }, 'deleted', error)
      })
      .finally(() => this.#dropping.delete(guid))
    this.#dropping.set(guid, dropped)
  }

  async #wake(space: Space): Promise<void> {
    try {
      const opened = await this.#opened(space)
      // If no request comes it has so long for what is due, and for what is deleted each minute.
      opened.used = this.#now() - IDLE_MS + 150 * SECOND
    } catch {
      // The log has it. A space that has no place now is looked at again, not at once.
      this.#resting = this.#now() + LOOK_MS
    }
  }

  async #removeData(guid: string, by: Actor): Promise<void> {
    await this.#close(guid)
    const late = performance.now() + REMOVED_MS
    const nodes = () => this.#directory.present().ofGuid.get(guid)?.nodes.length
    while (performance.now() < late && !this.#isClosed && (nodes() ?? 0) > 0) await pause(50)
    // Else the node that leads the cluster does it when they have closed it.
    if (nodes() === 0) await this.#drop(guid, by)
  }

  /** One after the other, also where removals on two nodes and a look meet. */
  #drop(guid: string, by: Actor): Promise<void> {
    const { database, dropData } = this.#options
    const drop = async () => {
      if (!this.#directory.present().ofGuid.has(guid)) return
      await dropData(guid)
      await this.#directory.remove(guid, by)
      this.#failed.delete(guid)
      this.#errors.delete(guid)
    }
    return this.#inTurn('drop', () => database.capabilities.withClusterLock(`space ${guid}`, drop))
  }

  #known(guid: string): Space {
    const space = this.#directory.present().ofGuid.get(guid)
    if (space) return space
    throw new QuoinError('NOT_FOUND', `There is no space with the guid ${guid}.`)
  }

  #noteFailure({ guid, name }: Pick<Space, 'guid' | 'name'>, what: string, error: unknown): void {
    this.#errors.set(guid, { at: Math.floor(this.#now() / SECOND), message: String(error).slice(0, 500) })
    this.#write(`The space ${name} could not be ${what}: ${String(error)}`)
  }

  #now(): number {
    return this.#options.start.clock()
  }

  #write(message: string): void {
    this.#options.log.write({ level: 'error', message })
  }
}
