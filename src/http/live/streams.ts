/**
 * The event streams of a node: how many there may be, and when they end. A stream ends when its client leaves or does not
 * read, when its caller may not be here any more, when its blueprint is deployed again or deactivated, when the node has
 * lost the cluster, and when the server closes.
 *
 * One timer looks at all of them. What follows from that is done in short turns (`turns.ts`).
 */
import type { LiveBlueprints } from '../../flows/live/live-blueprints.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { Random } from '../../shared/guid.ts'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Cluster } from '../../storage/cluster.ts'
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
    for (const [{ stream }, { blueprint, compiled }] of streams)
      if (deployed(blueprint) !== compiled) turns.add(() => stream.end())
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
      streams.set(open, { blueprint: found.blueprint, compiled: deployed(found.blueprint) })
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
      for (const { stream } of streams.keys()) stream.end()
    },
  }
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
