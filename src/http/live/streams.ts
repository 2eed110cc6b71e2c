/**
 * The event streams of a node: how many there may be, and when they end. A stream ends when its client leaves or does not
 * read, when its caller may not be here any more, when its blueprint is deployed again or deactivated, when the node has
 * lost the cluster, and when the server closes.
 *
 * One timer looks at all of them. What follows from that is done in short turns (`turns.ts`).
 */
import type { Reply } from '../../blocks/reply.ts'
import type { LiveBlueprints } from '../../flows/live/live-blueprints.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { Random } from '../../shared/guid.ts'
import { isPromise, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { ReadVersions } from '../../storage/capabilities.ts'
import type { Cluster } from '../../storage/cluster.ts'
import type { Database } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import type { FoundEndpoint } from '../endpoints/endpoint-table.ts'
import { LiveStream, type StreamMemory } from './live-stream.ts'
import { type Identify, type Standing, type StreamLimits, standingOf, streamPlaces } from './stream-places.ts'
import { openTurns, type Turns } from './turns.ts'

export interface StreamsOptions {
  readonly live: LiveBlueprints
  readonly cluster: Pick<Cluster, 'alive'> | undefined
  readonly identify: Identify
  readonly limits: StreamLimits
  readonly clock: Clock
  readonly random: Random
  /** Hears of a task that failed; the others are done all the same. */
  readonly failed: (error: unknown) => void
}

/** A stream with the request that it answers. */
export interface OpenStream {
  readonly stream: LiveStream
  readonly exchange: EndpointExchange
}

export interface Streams {
  readonly turns: Turns
  /** Open or about to be. */
  readonly size: number
  readonly memory: Readonly<StreamMemory>
  /** `left` is called once when it is over. UNAVAILABLE or RATE_LIMITED when there are too many. */
  add(exchange: EndpointExchange, found: FoundEndpoint, left: (open: OpenStream) => void): OpenStream
  /** Throws what {@link add} would throw now. */
  checkRoom(exchange: EndpointExchange): void
  /** Whether the caller of a stream may still have what is sent. Ends the stream when not. */
  mayStay(open: OpenStream): MaybePromise<boolean>
  /** Milliseconds until a client connects again: not the same for all, which would come at once. */
  retry(): number
  /** Calls the listener ten times a second while there are streams. */
  whenLooking(listener: (now: number) => void): void
  close(): void
}

/** What was deployed when a stream began. */
interface Deployed {
  readonly blueprint: string
  readonly compiled: unknown
}

const LOOK_MS = 100
/** Between two questions whether a caller may still be here. */
const CHECK_LOOKS = 20
const RETRY_MS = 1_000
const RETRY_SPREAD_MS = 2_000

export function openStreams(options: StreamsOptions): Streams {
  const { live, cluster, identify, clock, random } = options
  const places = streamPlaces(options.limits)
  const turns = openTurns(options.failed)
  const streams = new Map<OpenStream, Deployed>()
  const memory: StreamMemory = { waiting: 0, dropped: 0, events: 0 }
  const listeners: ((now: number) => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let looks = 0
  let closed = false

  const deployed = (blueprint: string) => live.table().blueprints.get(blueprint)?.compiled
  const unwatch = live.watch(() => {
    for (const [open, { blueprint, compiled }] of streams)
      if (deployed(blueprint) !== compiled) turns.add(() => end(open))
  })

  const mayStay = (open: OpenStream) => callerMayStay(open, identify)

  function look(): void {
    const now = clock()
    const isLost = cluster?.alive() === false
    looks += 1
    memory.waiting = 0
    for (const open of streams.keys()) {
      const { stream } = open
      memory.waiting += stream.waiting
      stream.look(now)
      if (isLost)
        turns.add(() => stream.fail(503, { error: 'This node has lost its connection to the cluster.' }))
      else if (looks % CHECK_LOOKS === 0 && stream.isOpen) turns.add(() => void mayStay(open))
    }
    if (!isLost) for (const listener of listeners) listener(now)
  }

  /** Gives what makes it free again. */
  function takePlace(exchange: EndpointExchange): () => void {
    if (closed) throw new QuoinError('UNAVAILABLE', 'This node is stopping. Try again.')
    return places.take(exchange.ip, exchange.identity?.guid)
  }

  return {
    turns,
    memory,
    get size() {
      return streams.size
    },
    checkRoom(exchange) {
      takePlace(exchange)()
    },
    add(exchange, found, left) {
      const free = takePlace(exchange)
      const open: OpenStream = { exchange, stream: new LiveStream(exchange, memory, over) }
      streams.set(open, { blueprint: found.blueprint, compiled: found.compiled })
      // Deployed again while its flow ran: it would see messages by a scope that the endpoint had before.
      if (deployed(found.blueprint) !== found.compiled) turns.add(() => end(open))
      timer ??= setInterval(look, LOOK_MS).unref()
      return open

      function over(): void {
        free()
        streams.delete(open)
        left(open)
        if (streams.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    mayStay,
    retry() {
      const bytes = new Uint8Array(2)
      random(bytes)
      return RETRY_MS + Math.floor((new DataView(bytes.buffer).getUint16(0) / 65_536) * RETRY_SPREAD_MS)
    },
    whenLooking: (listener) => void listeners.push(listener),
    close() {
      closed = true
      unwatch()
      clearInterval(timer)
      turns.close()
      for (const open of streams.keys()) end(open)
    },
  }
}

/** A stream whose first reply is still being made is refused: nothing else answers its request after this. */
function end({ stream, exchange }: OpenStream): void {
  const { isOpening } = stream
  stream.end()
  if (!isOpening) return
  const why = 'The application was changed, or this node is stopping. Try again.'
  exchange.fail(new QuoinError('UNAVAILABLE', why, { retryAfter: 1 }))
}

function callerMayStay({ stream, exchange }: OpenStream, identify: Identify): MaybePromise<boolean> {
  const judge = (standing: Standing) => {
    if (standing === 'allowed') return stream.isOpen
    // Its client connects again, with the rights that it has now.
    if (standing === 'changed') stream.end()
    else stream.fail(standing.status, { error: standing.message })
    return false
  }
  const unknown = () => {
    stream.fail(503, { error: 'The caller could not be looked up.' })
    return false
  }
  const standing = standingOf(exchange, identify)
  return isPromise(standing) ? standing.then(judge, unknown) : judge(standing)
}

/**
 * Which storages were written to, by any node, for what is shown while it changes: pages and event streams.
 *
 * Each node tells the others twice a second at most which storages it has written to. The storages are not watched
 * (`changes.watch`): a write would then wait for every node, for the sake of a screen. So the news of another node comes
 * about a second late, and a write never waits for it.
 */
const TELL_MS = 500
/** What nodes tell each other under; no storage has such a name. */
const TOPIC = 'page changes'

export interface ChangeFeed {
  /** Raised by this node's writes when they are committed, and by what other nodes tell of theirs. */
  version(storage: string): number
  /** The same of what users see of it: rules may lead to documents of other storages. */
  shownVersion(storage: string): number
  /** Raised on each node by a change of a rule, which may show other documents and fields. */
  ruleVersion(): number
  close(): void
}

/** `dependentOn`: the storages whose documents decide too which ones of a storage a user sees. */
export function openChangeFeed(
  database: Database,
  live: LiveBlueprints,
  dependentOn: (storage: string) => MaybePromise<readonly string[]>,
): ChangeFeed {
  const { changes, cluster } = database.capabilities
  /** Of the storages that are shown: the version that the other nodes know of. */
  const reported = new Map<string, number>()
  const elsewhere = new Map<string, number>()

  const dependent = new Map<string, readonly string[]>()

  const unwatchLive = live.watch(() => {
    for (const name of shownStorages(live)) if (!reported.has(name)) reported.set(name, changes.version(name))
  })

  /** As far as it is known without waiting: rules that are being read count at the next look. */
  function deciding(name: string): readonly string[] {
    const found = recover(
      () => dependentOn(name),
      () => dependent.get(name) ?? [],
    )
    if (!isPromise(found)) dependent.set(name, found)
    else void found.then((names) => dependent.set(name, names))
    return dependent.get(name) ?? []
  }
  const unwatch = changes.watch(TOPIC, (names) => {
    for (const name of names ?? reported.keys()) elsewhere.set(name, (elsewhere.get(name) ?? 0) + 1)
  })
  const timer = cluster && setInterval(() => tellOthers(cluster), TELL_MS).unref()

  /** What this node has written since it last told. */
  function tellOthers(others: Cluster): void {
    // Told once at first: it may have been written to between the rule and now.
    for (const name of [...reported.keys()])
      for (const one of deciding(name)) if (!reported.has(one)) reported.set(one, -1)
    const written = writtenSince(reported, (name) => changes.version(name))
    if (written.length === 0) return
    others.notify(TOPIC, written).catch(() => {
      for (const name of written) if (reported.has(name)) reported.set(name, -1)
    })
  }

  const version = (name: string) => changes.version(name) + (elsewhere.get(name) ?? 0)
  return {
    version,
    shownVersion: (name) => deciding(name).reduce((sum, one) => sum + version(one), version(name)),
    ruleVersion: () => changes.version(systemStorages.fields) + changes.version(systemStorages.storages),
    close() {
      unwatchLive()
      unwatch()
      clearInterval(timer)
    },
  }
}

/** The storages that have another version than the one that was reported, which is replaced. */
function writtenSince(reported: Map<string, number>, versionOf: (name: string) => number): readonly string[] {
  const written: string[] = []
  for (const [name, version] of reported) {
    const now = versionOf(name)
    if (now === version) continue
    reported.set(name, now)
    written.push(name)
  }
  return written
}

/** The storages that active blueprints use which have pages, or endpoints whose reply can be followed. */
function* shownStorages(live: LiveBlueprints): Generator<string, void> {
  for (const { compiled } of live.table().blueprints.values())
    if (compiled.pages.length > 0 || compiled.endpoints.some(({ flow }) => flow.cacheable))
      yield* compiled.needs.keys()
}

/** What followed replies of a node share. */
export interface LiveTools {
  readonly runs: Pick<Runs, 'run'>
  readonly news: Pick<ChangeFeed, 'version'>
  readonly versions: ReadVersions | undefined
  readonly turns: Turns
  readonly clock: Clock
  /** What every run reads beside storages, compared item by item. */
  around(): readonly unknown[]
  /** Whether the caller of a stream may still have what is sent. Ends the stream when not. */
  mayStay(open: OpenStream): MaybePromise<boolean>
  /** Milliseconds until a client connects again: not the same for all, which would come at once. */
  retry(): number
  /** Sends a reply that is no stream. */
  sendReply(exchange: EndpointExchange, reply: Reply): void
}
