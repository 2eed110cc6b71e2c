/**
 * The reply of one endpoint to one address, followed by any number of streams: its flow runs once for all of them when
 * something that it has read has changed, and its reply goes to those that do not have it.
 *
 * Streams that join get the reply of a run that began after they came, so it is never older than the last write that was
 * acknowledged before.
 */
import { ChannelReply, FileBody, type Reply } from '../../blocks/reply.ts'
import { ObservedReads } from '../../flows/run/observed-reads.ts'
import type { RunEnd, RunStart } from '../../flows/run/run-start.ts'
import { hasPassed } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { andThen, recover } from '../../shared/maybe-promise.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import { replyText, sendEnd } from '../endpoints/request-and-reply.ts'
import { entityTag } from '../replies/sent-replies.ts'
import { errorBytes, eventBytes, type LiveStream } from './live-stream.ts'
import type { LiveTools, OpenStream } from './streams.ts'

/** What a run gives those who follow it. */
interface ReplyEvent {
  /** Of the bytes: a client that has it gets nothing. */
  readonly id: string
  readonly bytes: Buffer
  /** Whether a stream ends with it. */
  readonly isLast: boolean
  /** Sends the same to a client whose stream has not begun. Undefined for a reply that a stream can begin with. */
  readonly answer: ((exchange: EndpointExchange) => void) | undefined
}

/** Characters of a reply. */
const LONGEST = 1024 * 1024

/**
 * A reply with the status 200 is an event. Other replies of the flow, and ends with a status below 500, are events `error`
 * that leave the stream open: what is not found may come back. Every other end is the last event.
 */
function replyEvent(end: RunEnd, reply: Reply | undefined, { sendReply }: LiveTools): ReplyEvent {
  if (end.error || !reply) return endEvent(end)
  if (reply.value instanceof FileBody || reply.value instanceof ChannelReply)
    return refusedEvent('A file cannot be sent as events.')
  const text = eventText(reply)
  if (text === undefined)
    return refusedEvent(`The reply has more than ${LONGEST} characters, the most that is sent as an event.`)
  const { code } = reply
  const id = entityTag(`${code} ${text}`).slice(1, -1)
  if (code === 200) return { id, bytes: eventBytes({ id, data: text }), isLast: false, answer: undefined }
  const bytes = eventBytes({ event: 'error', data: `{"status":${code},"reply":${jsonOf(text, reply)}}` })
  return { id, bytes, isLast: false, answer: (exchange) => sendReply(exchange, reply) }
}

/** undefined: it is too large for an event, or for any reply. */
function eventText(reply: Reply): string | undefined {
  try {
    const text = replyText(reply) ?? 'null'
    return text.length > LONGEST ? undefined : text
  } catch {
    return undefined
  }
}

function endEvent(end: RunEnd): ReplyEvent {
  const { status, code, message } = end.error ?? { status: 204, code: '', message: 'the flow did not reply' }
  const body = code === 'INTERNAL' ? { error: 'internal error', run: end.run } : { error: message }
  const bytes = errorBytes(status, body)
  const isLast = status >= 500 || !end.error
  return { id: `${status} ${message}`, bytes, isLast, answer: (exchange) => sendEnd(exchange, end) }
}

const failedEvent: ReplyEvent = {
  id: 'failed',
  bytes: errorBytes(500, { error: 'internal error' }),
  isLast: true,
  answer: (exchange) => exchange.fail(new QuoinError('INTERNAL', 'internal error')),
}

function refusedEvent(message: string): ReplyEvent {
  const error = new QuoinError('NOT_ACCEPTABLE', message)
  const bytes = errorBytes(error.status, { error: message })
  return { id: message, bytes, isLast: true, answer: (exchange) => exchange.fail(error) }
}

/** Text that is not JSON goes as a JSON string. */
function jsonOf(text: string, { headers }: Reply): string {
  const type = headers['content-type']
  return type === undefined || type.startsWith('application/json') ? text : JSON.stringify(text)
}

/** Milliseconds between two runs for the same streams, and ten times as long as one takes. */
const PAUSE_MS = 500
const SHARE = 10

export class StreamedReply {
  readonly #tools: LiveTools
  readonly #streams = new Set<OpenStream>()
  readonly #start: Omit<RunStart, 'onReply' | 'tracking'>
  #reads: ObservedReads | undefined
  #around: readonly unknown[] = []
  #event: ReplyEvent | undefined
  #state: 'idle' | 'asked' | 'running' = 'idle'
  /** Someone has joined since the run began. */
  #again = false
  /** A client was still reading when there was something new for it. */
  #late = false
  #ended = 0
  /** Milliseconds until it may run again. */
  #pause = 0

  constructor(tools: LiveTools, start: Omit<RunStart, 'onReply' | 'tracking'>) {
    this.#tools = tools
    this.#start = start
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0
  }

  join(open: OpenStream): void {
    this.#streams.add(open)
    this.#ask()
  }

  leave(open: OpenStream): void {
    this.#streams.delete(open)
  }

  /** Runs the flow again where that may give another reply. */
  look(now: number): void {
    if (this.#state !== 'idle' || !hasPassed(this.#pause, this.#ended, now)) return
    if (this.#hasChanged() || this.#isAwaited()) this.#ask()
  }

  #hasChanged(): boolean {
    const around = this.#tools.around()
    return this.#around.some((value, at) => value !== around[at]) || this.#reads?.haveChanged === true
  }

  /** Whether a client that was late has caught up meanwhile. */
  #isAwaited(): boolean {
    if (!this.#late) return false
    const late = [...this.#streams].filter(({ stream }) => stream.has !== this.#event?.id)
    this.#late = late.length > 0
    return late.some(({ stream }) => stream.waiting === 0)
  }

  #ask(): void {
    if (this.#state === 'running') this.#again = true
    if (this.#state !== 'idle') return
    this.#state = 'asked'
    this.#tools.turns.add(() => this.#run())
  }

  #run(): void {
    const streams = [...this.#streams]
    this.#state = streams.length > 0 ? 'running' : 'idle'
    if (streams.length === 0) return
    this.#again = false
    const { news, versions, runs, around, clock } = this.#tools
    const reads = new ObservedReads(news.version, versions)
    this.#around = around()
    const began = clock()
    let reply: Reply | undefined
    const start: RunStart = {
      ...this.#start,
      onReply(sent) {
        reply = sent
      },
      tracking: (session) => reads.session(session),
    }
    const over = (end: RunEnd) => {
      this.#state = 'idle'
      this.#reads = reads
      this.#ended = clock()
      this.#pause = Math.max(PAUSE_MS, SHARE * (this.#ended - began))
      this.#spread(replyEvent(end, reply, this.#tools), streams)
      if (this.#again) this.#ask()
    }
    void recover(
      () => andThen(runs.run(start), over),
      (error) => this.#fail(error, streams),
    )
  }

  /** What must not happen: all that waited for the run end, and it may run again. */
  #fail(error: unknown, streams: readonly OpenStream[]): void {
    this.#state = 'idle'
    this.#ended = this.#tools.clock()
    this.#pause = PAUSE_MS
    streams[0]?.exchange.logFailure({ err: error }, 'a reply could not be sent as events')
    this.#spread(failedEvent, streams)
    if (this.#again) this.#ask()
  }

  #spread(event: ReplyEvent, streams: readonly OpenStream[]): void {
    this.#event = event
    for (const open of streams)
      if (open.stream.isOpening || open.stream.has !== event.id)
        this.#tools.turns.add(() => this.#offer(open, event))
  }

  #offer(open: OpenStream, event: ReplyEvent): void {
    const { stream, exchange } = open
    const { mayStay, retry, clock } = this.#tools
    if (stream.isOpening) {
      // Its caller has just been let in.
      if (event.answer) {
        stream.leave()
        event.answer(exchange)
      } else if (stream.begin(retry(), clock())) this.#send(stream, event)
    } else if (stream.waiting > 0) this.#late = true
    else {
      // A newer one may come while the caller is looked up.
      void andThen(mayStay(open), (may) => {
        if (may && this.#event === event) this.#send(stream, event)
      })
    }
  }

  #send(stream: LiveStream, event: ReplyEvent): void {
    if (stream.has === event.id) return
    stream.has = event.id
    stream.send(event.bytes, this.#tools.clock())
    if (event.isLast) stream.end()
  }
}
