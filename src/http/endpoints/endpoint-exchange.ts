/**
 * One request to a custom endpoint and its reply, on Node's own objects: the framework's request, reply, logger and hooks
 * cost as much as all blocks of a short flow (`docs/benchmarks.md`). Everything that the framework's hooks do for other
 * routes is done here for these: the body's limits and types, security headers, the entity tag, errors, logs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import { HTML_TYPE } from '../../blocks/reply.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import type { Span, Telemetry } from '../../shared/telemetry.ts'
import { dropRest, sendsBody, wholeBody } from '../bodies/json-body.ts'
import { timeSlowBody } from '../limits/slow-body.ts'
import { htmlHeaders } from '../replies/html-headers.ts'
import { LEAST, type ReplyCompression, requestedEncoding, weakTag } from '../replies/reply-compression.ts'
import {
  entityTag,
  knowsTag,
  LONG,
  longReply,
  SMALL,
  type TurnReplies,
  type WaitingReplies,
} from '../replies/sent-replies.ts'
import { errorAnswer } from '../server/error-answer.ts'
import { type RequestListener, requestSpan } from '../server/finished-hook.ts'
import { requestIdOf, traceParentOf } from '../server/hooks.ts'
import type { Caller } from '../server/permission.ts'
import { queryParameters } from '../server/query-parameters.ts'
import { hasParameter } from './endpoint-table.ts'
import type { EndpointUploads } from './endpoint-uploads.ts'

/** What all exchanges of a server share. */
export interface ExchangeTools {
  /** Bytes of a body; it may change. */
  readonly bodyLimit: number
  readonly log: FastifyBaseLogger
  readonly newId: () => string
  readonly finished: RequestListener
  /** Whether the server is about to end: its replies then end their connections. */
  readonly closing: () => boolean
  readonly waiting: WaitingReplies
  readonly compression: ReplyCompression
  readonly together: TurnReplies
  /** Where traces are sent. */
  readonly telemetry: Telemetry | undefined
}

/** What the framework found out about a request that it hands over. */
export interface HandedOver {
  readonly ip: string
  readonly host: string
  /** Headers that its reply shall have. */
  readonly headers: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Undefined: no body. */
  readonly text: string | undefined
  /** Where the text's tag is known, or is to be kept for the next time. */
  readonly tagged?: { tag: string | undefined } | undefined
}

/** A body that is read while it is sent. */
export interface StreamedAnswer {
  readonly status: number
  /** By lower-case name, those of safety among them. */
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: no body. */
  readonly open: (() => Readable) | undefined
}

const JSON_TYPE = 'application/json; charset=utf-8'
/**
 * On each reply: it is data, whatever a flow says of its type. `sandbox`: should a browser take it for a page all the same,
 * no script runs and the page is of no origin.
 */
const SAFE = ['x-content-type-options', 'nosniff', 'content-security-policy', 'sandbox']
/** HTML that a flow sends for a browser to show. */
const SAFE_HTML = Object.entries(htmlHeaders).flat()
const BODILESS = new Set([204, 304])

export class EndpointExchange implements Caller {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** Undefined where none is at this path: it gets the same 404 as for a hidden one, by the same lines. */
  readonly endpoint: CompiledEndpoint | undefined
  identity: Identity | undefined = undefined
  accessToken: string | undefined = undefined
  uploads: EndpointUploads | undefined = undefined
  /** Of a request that is sampled. */
  readonly span: Span | undefined
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #tools: ExchangeTools
  #handed: HandedOver | undefined
  readonly #began: number
  #query: unknown
  #id: string | undefined
  /** Asked of the socket once: 1 µs. It has none any more when its client has gone. */
  #ip: string | undefined
  /** The rest of an unread body must not be parsed as the next request. */
  #unread = false
  /** The reply is being compressed, or its stream is being opened. */
  #packing = false

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: CompiledEndpoint | undefined,
    tools: ExchangeTools,
    handed: HandedOver | undefined,
  ) {
    this.#began = performance.now()
    tools.together.begin(this.#began)
    this.method = request.method ?? 'GET'
    this.url = request.url ?? '/'
    this.headers = request.headers
    this.endpoint = endpoint
    this.#request = request
    this.#response = response
    this.#tools = tools
    this.#handed = handed
    this.span = tools.telemetry?.request(request.headers.traceparent)
  }

  get query(): unknown {
    if (this.#query === undefined) {
      const at = this.url.indexOf('?')
      this.#query = at < 0 ? {} : queryParameters(this.url.slice(at + 1))
    }
    return this.#query
  }

  /** Whether its access token came in its address. Looking for the token has taken it out of the query. */
  get tokenInAddress(): boolean {
    return this.accessToken !== undefined && hasParameter(this.url, 'access_token')
  }

  get bodyLimit(): number {
    return this.#tools.bodyLimit
  }

  get ip(): string {
    this.#ip ??= this.#handed?.ip ?? this.#request.socket.remoteAddress ?? ''
    return this.#ip
  }

  get host(): string {
    return this.#handed?.host ?? this.headers.host ?? ''
  }

  /** Finds the request in the log. */
  get id(): string {
    this.#id ??= requestIdOf(this.headers, this.#tools.newId)
    return this.#id
  }

  get hasBody(): boolean {
    return sendsBody(this)
  }

  /** Hands the body to what reads it a piece at a time. What it leaves unread ends the connection. */
  async readStream<T>(read: (body: IncomingMessage) => Promise<T>): Promise<T> {
    const stop = timeSlowBody(this.#request, this.#response)
    try {
      return await read(this.#request)
    } catch (error) {
      this.#unread = true
      throw error
    } finally {
      stop()
    }
  }

  /** The body, whole. Rejects one that is longer than the limit, or not as long as it says. */
  readBody(): Promise<Buffer> {
    return wholeBody(this.#request, this.bodyLimit).catch((error: unknown) => {
      this.#unread = true
      throw error
    })
  }

  /** Sends a reply, whole. Successful ones to GET are tagged, and are 304 for a client that has those bytes. */
  send(answer: Answer): void {
    const { text } = answer
    const response = this.#response
    if (response.headersSent || response.destroyed || this.#packing) return
    if (text === undefined || text.length <= LONG) {
      this.#send(answer, text, entityTag)
      return
    }
    this.#packing = true
    longReply(text).then(
      ({ bytes, tag }) => {
        this.#packing = false
        if (!response.destroyed) this.#send(answer, bytes, () => tag)
      },
      (error: unknown) => {
        this.#packing = false
        this.fail(error)
      },
    )
  }

  #send<T extends string | Buffer>(
    { status, headers, tagged }: Answer,
    text: T | undefined,
    tagOf: (text: T) => string,
  ): void {
    const head = this.#head(headers?.['content-type'] === HTML_TYPE ? SAFE_HTML : SAFE)
    if (text !== undefined && headers?.['content-type'] === undefined) head.push('content-type', JSON_TYPE)
    if (headers) for (const name in headers) head.push(name, headers[name] ?? '')
    let code = status
    const isRead = this.method === 'GET' || this.method === 'HEAD'
    if (status === 200 && isRead && text !== undefined) {
      const own = headers?.etag
      const known = own ?? tagged?.tag ?? tagOf(text)
      if (own === undefined) {
        head.push('etag', known)
        if (tagged) tagged.tag = known
      }
      if (knowsTag(this.headers['if-none-match'], known)) code = 304
    }
    if (BODILESS.has(code)) this.#end(code, head)
    else if (text === undefined || text.length < LEAST || headers?.['content-encoding'] !== undefined)
      this.#write(code, head, text)
    else this.#writeSmaller(code, head, text, tagged)
  }

  /** Sends a body as fast as its client takes it. A stream that cannot be opened is an error's reply. */
  stream({ status, headers, open }: StreamedAnswer): void {
    const response = this.#response
    if (response.headersSent || response.destroyed || this.#packing) return
    const head = this.#head(Object.entries(headers).flat())
    if (!open || this.method === 'HEAD') {
      response.writeHead(status, head).end()
      this.#finish(status)
      return
    }
    this.#packing = true
    const source = open()
    const left = () => void source.destroy()
    response.once('close', left)
    const failed = (error: Error) => {
      this.#packing = false
      response.off('close', left)
      this.fail(error)
    }
    source.once('error', failed)
    source.once('readable', () => {
      source.off('error', failed)
      if (response.destroyed) return
      response.writeHead(status, head)
      pipeline(source, response, (error) => {
        if (error && !response.destroyed) this.logFailure({ err: error }, 'a file was not sent whole')
        this.#finish(status)
      })
    })
  }

  /** Begins a reply that is sent piece by piece. Undefined when the client has gone, or has its reply already. */
  begin(status: number, headers: Readonly<Record<string, string>>): ServerResponse | undefined {
    const response = this.#response
    if (response.headersSent || response.destroyed || this.#packing) return undefined
    response.writeHead(status, this.#head([...SAFE, ...Object.entries(headers).flat()]))
    this.#finish(status)
    return response
  }

  /** Calls the listener once when the reply is over, whether it was sent or not. It may be over already, but is told later. */
  whenOver(listener: () => void): void {
    if (this.#response.destroyed) queueMicrotask(listener)
    else this.#response.once('close', listener)
  }

  /** The headers of each reply, with these. */
  #head(first: readonly string[]): string[] {
    const head = [...first, 'x-request-id', this.id]
    const trace = traceParentOf(this.headers)
    if (trace) head.push('traceparent', trace.text)
    if (this.#handed) for (const [name, value] of Object.entries(this.#handed.headers)) head.push(name, value)
    if (this.#unread) dropRest(this.#request)
    if (this.#unread || this.#tools.closing()) head.push('connection', 'close')
    return head
  }

  /** Compressed, if the client takes that. */
  #writeSmaller(code: number, head: string[], text: string | Buffer, owner: object | undefined): void {
    head.push('vary', 'accept-encoding')
    const encoding = this.method === 'HEAD' ? undefined : requestedEncoding(this.headers, text.length)
    const packing = encoding && this.#tools.compression.compress(text, encoding, owner)
    if (!packing) {
      this.#write(code, head, text)
      return
    }
    this.#packing = true
    packing.then(
      (bytes) => {
        this.#packing = false
        for (let at = 0; at < head.length; at += 2)
          if (head[at] === 'etag') head[at + 1] = weakTag(head[at + 1] ?? '')
        this.#write(code, [...head, 'content-encoding', encoding], bytes)
      },
      (error: unknown) => {
        this.#packing = false
        this.fail(error)
      },
    )
  }

  /** The head and the body; an error instead if too much waits for clients already. */
  #write(code: number, head: string[], body: string | Buffer | undefined): void {
    const response = this.#response
    if (response.destroyed) return
    const { waiting } = this.#tools
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    head.push('content-length', String(length))
    if (body === undefined || this.method === 'HEAD') {
      this.#end(code, head)
      return
    }
    try {
      waiting.admit(this.#request.socket, length)
    } catch (error) {
      this.fail(error)
      return
    }
    this.#end(code, head, body, length)
  }

  /** With the other replies of this turn, unless it is long: then waiting would cost memory, and waking its client is the least of it. */
  #end(code: number, head: string[], body: string | Buffer = '', length = 0): void {
    const response = this.#response
    response.writeHead(code, head)
    const end = () => {
      // As many bytes as characters: ASCII, which is the same in Latin-1 and copied without looking at it.
      response.end(body, length === body.length ? 'latin1' : 'utf8')
      // Nearly always the system has taken all of it by now.
      if (response.writableLength > 0) this.#tools.waiting.hold(response, length)
      this.#finish(code)
    }
    if (length > SMALL) end()
    else this.#tools.together.add(end)
  }

  /** Sends an error. Faults of ours are logged with their cause; the cause is never sent. */
  fail(thrown: unknown): void {
    const { log } = this.#tools
    const answer = errorAnswer(thrown, { style: 'custom', request: this.id })
    const { error } = answer
    const request = { reqId: this.id, code: error.code }
    if (error.status >= 500) log.error({ ...request, err: error.cause ?? error }, 'request failed')
    else log.debug({ ...request, fields: error.fields }, 'request refused')
    this.send({ status: error.status, headers: answer.headers, text: answer.text })
  }

  /** A header that the reply shall have besides its own. */
  alsoSend(name: string, value: string): void {
    const { ip, host } = this
    this.#handed = { ip, host, headers: { ...this.#handed?.headers, [name]: value } }
  }

  /** Says in the log that a run went wrong. */
  logFailure(details: Readonly<Record<string, unknown>>, message: string): void {
    this.#tools.log.error({ reqId: this.id, ...details }, message)
  }

  #finish(status: number): void {
    const milliseconds = performance.now() - this.#began
    const route = this.endpoint ? `/api/v1/${this.endpoint.listening.uri}` : undefined
    this.span?.end(requestSpan({ method: this.method, route, status, id: this.id }))
    this.#tools.finished({
      id: this.id,
      method: this.method,
      url: this.url,
      endpoint: this.endpoint,
      route: this.endpoint ? undefined : '/api/v1/*',
      status,
      milliseconds,
      ip: this.ip,
      agent: this.headers['user-agent'],
      identity: this.identity,
      fromStudio: false,
      place: this.span?.place,
    })
  }
}
