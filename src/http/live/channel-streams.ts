/** Event streams of channels: what flows publish goes to the clients that are subscribed at this moment. */
import type { ChannelReply } from '../../blocks/reply.ts'
import type { Channels } from '../../flows/channels.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import type { FoundEndpoint } from '../endpoints/endpoint-table.ts'
import type { EventStreams } from '../endpoints/event-streams.ts'
import { takesEvents } from '../server/query-parameters.ts'
import { eventBytes } from './live-stream.ts'
import type { LiveTools, OpenStream, Streams } from './streams.ts'

/** Messages that wait for one client while it is looked up, and bytes that it has not read. */
const MOST_WAITING = 200
const MOST_UNREAD = 256 * 1024

/** One client of a channel: gets messages in their order, each after a look at who it is. */
class Subscriber {
  readonly open: OpenStream
  /** Milliseconds since 1970. */
  readonly until: number
  readonly #tools: Pick<LiveTools, 'turns' | 'mayStay' | 'clock'>
  #waiting: Buffer[] = []
  #isAsked = false

  constructor(open: OpenStream, until: number, tools: Pick<LiveTools, 'turns' | 'mayStay' | 'clock'>) {
    this.open = open
    this.until = until
    this.#tools = tools
  }

  /** A client that cannot take it is dropped: it would miss messages without noticing. */
  offer(bytes: Buffer): void {
    const { stream } = this.open
    if (this.#waiting.length >= MOST_WAITING || stream.waiting > MOST_UNREAD) stream.drop()
    if (!stream.isOpen) return
    this.#waiting.push(bytes)
    if (this.#isAsked) return
    this.#isAsked = true
    this.#tools.turns.add(() => this.#deliver())
  }

  #deliver(): void {
    void andThen(this.#tools.mayStay(this.open), (may) => {
      const waiting = this.#waiting
      this.#waiting = []
      this.#isAsked = false
      if (may) for (const bytes of waiting) this.open.stream.send(bytes, this.#tools.clock())
    })
  }
}

export interface ChannelStreamsOptions {
  readonly channels: Pick<Channels, 'listen'>
  readonly streams: Streams
  readonly clock: Clock
}

export function channelStreams(
  input: ChannelStreamsOptions,
): Pick<EventStreams, 'subscribe' | 'checkSubscriber'> {
  const { channels, streams, clock } = input
  const subscribers = new Map<string, Set<Subscriber>>()
  const tools = { turns: streams.turns, mayStay: streams.mayStay, clock }

  channels.listen(({ channel, data }) => {
    const all = subscribers.get(channel)
    if (!all) return
    const bytes = eventBytes({ data })
    for (const subscriber of all) subscriber.offer(bytes)
  })
  streams.whenLooking((now) => {
    for (const all of subscribers.values())
      for (const { until, open } of all) if (now >= until) streams.turns.add(() => open.stream.end())
  })

  function begin(exchange: EndpointExchange, found: FoundEndpoint, reply: ChannelReply): void {
    const { channel, first, lasts } = reply
    const open = streams.add(exchange, found, () => {
      const left = subscribers.get(channel)
      left?.delete(subscriber)
      if (left?.size === 0) subscribers.delete(channel)
    })
    const subscriber = new Subscriber(open, clock() + lasts, tools)
    if (!open.stream.begin(streams.retry(), clock())) {
      open.stream.leave()
      return
    }
    const all = subscribers.get(channel) ?? new Set()
    subscribers.set(channel, all.add(subscriber))
    if (first !== undefined) open.stream.send(eventBytes({ data: first }), clock())
  }

  return {
    checkSubscriber(exchange) {
      if (exchange.method !== 'GET') throw new QuoinError('NOT_ACCEPTABLE', 'Events are only sent to GET.')
      if (!takesEvents(exchange.headers.accept))
        throw new QuoinError('NOT_ACCEPTABLE', 'This endpoint sends events: accept text/event-stream.')
      streams.checkRoom(exchange)
    },
    subscribe(exchange, found, reply) {
      try {
        begin(exchange, found, reply)
      } catch (error) {
        exchange.fail(error)
      }
    },
  }
}
