/**
 * One event stream: a reply that stays open. States: `opening` (its flow runs for the first time; an error is an ordinary
 * reply) → `open` (events go out) → `over`. A stream ends only once.
 */
import type { ServerResponse } from 'node:http'
import { hasPassed } from '../../shared/clock.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'

/** What all streams of a node share. */
export interface StreamMemory {
  /** Bytes that wait for readers, as of the last look, and what was sent since. */
  waiting: number
  /** Streams that were ended because their client did not read. */
  dropped: number
  /** Events that were sent. */
  events: number
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that gather replies would hold the events back.
  'x-accel-buffering': 'no',
}

/** Bytes that may wait for all readers of a node together. */
const MOST_WAITING = 32 * 1024 * 1024
/** Milliseconds in which a client must have taken what was sent. */
const PATIENCE_MS = 20_000
/** Something is sent at least this often. */
const QUIET_MS = 20_000

/** The request, and its reply that is to stay open. */
export type StreamExchange = Pick<EndpointExchange, 'headers' | 'whenOver' | 'begin'>

export class LiveStream {
  /** The id of the event that the client has. */
  has: string | undefined
  readonly #exchange: StreamExchange
  readonly #memory: StreamMemory
  readonly #left: () => void
  #response: ServerResponse | undefined
  #isOver = false
  #behindSince: number | undefined
  #lastSent = 0

  /** `left` is called once, when the stream is over. */
  constructor(exchange: StreamExchange, memory: StreamMemory, left: () => void) {
    this.#exchange = exchange
    this.has = lastEventId(exchange)
    this.#memory = memory
    this.#left = left
    exchange.whenOver(() => this.#leave())
  }

  get isOpening(): boolean {
    return !this.#isOver && this.#response === undefined
  }

  get isOpen(): boolean {
    return !this.#isOver && this.#response !== undefined
  }

  /** Bytes that its client has not taken yet. */
  get waiting(): number {
    return this.#response?.writableLength ?? 0
  }

  /** False when the client has gone. `retry`: milliseconds after which it connects again when the stream has ended. */
  begin(retry: number, now: number): boolean {
    if (!this.isOpening) return false
    this.#response = this.#exchange.begin(200, HEADERS)
    if (!this.#response) return false
    this.#response.write(retryBytes(retry))
    this.#lastSent = now
    return true
  }

  send(bytes: Buffer, now: number): void {
    const response = this.#response
    if (!this.isOpen || !response) return
    response.write(bytes)
    this.#memory.events += 1
    this.#lastSent = now
    if (response.writableLength === 0) return
    this.#memory.waiting += bytes.length
    if (this.#memory.waiting > MOST_WAITING) this.drop()
  }

  /** Looks after the stream: an event now and then, and an end when its client does not read. */
  look(now: number): void {
    if (!this.isOpen) return
    if (this.waiting === 0) this.#behindSince = undefined
    else this.#behindSince = Math.min(this.#behindSince ?? now, now)
    if (this.#behindSince !== undefined && now - this.#behindSince >= PATIENCE_MS) this.drop()
    else if (hasPassed(QUIET_MS, this.#lastSent, now) && this.waiting === 0) {
      this.#response?.write(heartbeat)
      this.#lastSent = now
    }
  }

  /** Ends it with an event `error`. */
  fail(status: number, body: object): void {
    if (!this.isOpen) return
    this.#response?.write(errorBytes(status, body))
    this.end()
  }

  /** What is sent already arrives. Of a stream that has not begun the request is to be answered by who ends it. */
  end(): void {
    if (this.#isOver) return
    this.#response?.end()
    this.#leave()
  }

  /** Ends it now: what waits is forgotten. */
  drop(): void {
    if (this.#isOver) return
    this.#memory.dropped += 1
    this.#response?.destroy()
    this.#leave()
  }

  /** Leaves the reply to its flow, which did not give what can be followed. */
  leave(): void {
    this.#leave()
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#left()
  }
}

/** What a browser had when its connection broke. Longer than any id of ours: not looked at. */
function lastEventId({ headers }: StreamExchange): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id.length <= 100 ? id : undefined
}

/** Server-sent events as bytes (WHATWG HTML, 9.2). */

interface StreamEvent {
  /** Sent back by the browser when it connects again. One line. */
  readonly id?: string | undefined
  /** `message` if not given. One line. */
  readonly event?: string | undefined
  readonly data: string
}

const LINES = /\r\n|\r|\n/

export function eventBytes({ id, event, data }: StreamEvent): Buffer {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return Buffer.from(`${head}data: ${data.split(LINES).join('\ndata: ')}\n\n`)
}

export function errorBytes(status: number, body: object): Buffer {
  return eventBytes({ event: 'error', data: JSON.stringify({ status, ...body }) })
}

/** Milliseconds after which a browser connects again. */
function retryBytes(milliseconds: number): Buffer {
  return Buffer.from(`retry: ${milliseconds}\n\n`)
}

/** A comment: proxies end connections that are silent for a minute. */
const heartbeat = Buffer.from(': still here\n\n')
