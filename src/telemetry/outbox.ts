/** What sends items to a collector: in batches, again where that may help, with bounded memory. */
import { Agent as HttpAgent, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'

/** Items that wait for the collector; others are dropped. */
const MOST_WAITING = 2_048
const BATCH = 512
const TIMEOUT_MS = 5_000
const EVERY_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** Of one batch, the first included. */
const TRIES = 5
/** What a collector may say beside its status. */
const LONGEST_REPLY = 65_536
/** Failures in a row that are reported: the third, and then each sixtieth. */
const REPORTED = 3
const AGAIN = 60
/** Replies behind which the same may be taken later (OTLP, "Retryable Response Codes"). */
const LATER: readonly (number | undefined)[] = [429, 502, 503, 504]

export interface Collector {
  /** Without a slash at its end. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly failed: (message: string) => void
}

export interface Outbox<Item> {
  /** Never waits and never throws. */
  add(item: Item): void
  /** Sends what waits, for five seconds at most. */
  close(): Promise<void>
}

export interface Signal<Item> {
  /** For people. */
  readonly what: string
  readonly path: string
  /** The body of a batch. */
  readonly encode: (items: readonly Item[]) => string
  /** How many items wait at most, and go together. For items that are large. */
  readonly most?: { readonly waiting: number; readonly batch: number }
}

export function openOutbox<Item>(
  { endpoint, headers, failed }: Collector,
  { what, path, encode, most = { waiting: MOST_WAITING, batch: BATCH } }: Signal<Item>,
): Outbox<Item> {
  const connection = openConnection(`${endpoint}${path}`, headers)
  const waiting: Item[] = []
  let failures = 0
  let tries = 0
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined

  function plan(): void {
    const pause = Math.min(LONGEST_WAIT_MS, EVERY_MS * 2 ** Math.min(failures, 5))
    timer = setTimeout(look, pause).unref()
  }
  function look(): void {
    clearTimeout(timer)
    sending = sendAll().finally(() => {
      sending = undefined
      timer = undefined
      if (waiting.length > 0) plan()
    })
  }
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const count = Math.min(most.batch, waiting.length)
      try {
        await connection.post(encode(waiting.slice(0, count)))
        failures = 0
      } catch (error) {
        failures += 1
        tries += 1
        if (failures % AGAIN === REPORTED) failed(failureText(what, failures, error))
        if (tries < TRIES && !(error instanceof RefusedBatch)) return
      }
      tries = 0
      waiting.splice(0, count)
    }
  }
  return {
    add(item) {
      if (waiting.length >= most.waiting) return
      waiting.push(item)
      if (sending) return
      if (timer === undefined) plan()
      // A full batch does not wait, unless the collector is down.
      if (waiting.length === most.batch && failures === 0) look()
    },
    async close() {
      const late = setTimeout(connection.close, TIMEOUT_MS)
      await sending
      clearTimeout(timer)
      await sendAll()
      clearTimeout(timer)
      clearTimeout(late)
      connection.close()
    },
  }
}

function failureText(what: string, failures: number, error: unknown): string {
  return `${what} could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT ${failures} times in a row, and are dropped after a while: ${String(error)}`
}

/** The collector does not take it, also not later. */
class RefusedBatch extends Error {}

function openConnection(url: string, headers: Readonly<Record<string, string>>) {
  const isSecure = url.startsWith('https:')
  const agent = isSecure ? new HttpsAgent(oneKept) : new HttpAgent(oneKept)
  const request = isSecure ? overHttps : overHttp
  const closing = new AbortController()
  return {
    post(body: string): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)])
      const sent = request(url, {
        ...{ method: 'POST', agent, signal },
        headers: {
          ...headers,
          ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        },
      })
      sent.on('error', reject).on('response', (reply) => {
        let length = 0
        reply.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length > LONGEST_REPLY) reply.destroy(new RefusedBatch('The reply is too long.'))
        })
        reply.on('error', reject).on('end', () => {
          const { statusCode = 0 } = reply
          if (statusCode >= 200 && statusCode < 300) resolve()
          else if (LATER.includes(statusCode)) reject(new Error(`It replied ${statusCode}.`))
          else reject(new RefusedBatch(`It replied ${statusCode}.`))
        })
      })
      sent.end(body)
      return promise
    },
    close() {
      closing.abort()
      agent.destroy()
    },
  }
}

const oneKept = { keepAlive: true, maxSockets: 1 }
