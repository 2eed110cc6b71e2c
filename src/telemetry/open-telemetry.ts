/**
 * Traces, metrics and logs by OTLP. Loaded only where `OTEL_EXPORTER_OTLP_ENDPOINT` is set. What cannot be sent is dropped: at most 2,048 pieces wait in memory, and no
 * request waits for them.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import {
  type LogPiece,
  type Metric,
  type OpenPiece,
  type Span,
  type SpanEnd,
  type SpanPiece,
  spanTime,
  type Telemetry,
  type TracePlace,
  tracePlace,
} from '../shared/telemetry.ts'
import { envelope, logText, metricTexts, type SentSpan, spanKinds, spanText } from './otlp.ts'
import { type Collector, openOutbox } from './outbox.ts'

/** Of one node in a second: then the cost does not grow with the load, nor with what strangers ask for by a header. */
const MOST_A_SECOND = 100
/** Of one request or run. */
const MOST_PIECES = 200

export interface TelemetryOptions extends Collector {
  /** The share of requests and runs that are sampled, where nothing before them has decided: 0 to 1. */
  readonly share: number
  readonly service: { readonly name: string; readonly version: string; readonly node: string }
  readonly clock: Clock
  /** For identifiers. */
  readonly random: Random
  /** 0 to 1. */
  readonly draw: () => number
  /** Milliseconds between two readings of the metrics; undefined where none are sent. */
  readonly metricsEvery: number | undefined
  readonly sendsLogs: boolean
}

export interface OpenTelemetry extends Telemetry {
  /** Sends what waits, for five seconds at most. */
  close(): Promise<void>
}

export function openTelemetry(options: TelemetryOptions): OpenTelemetry {
  const around = envelope(options.service, ['resourceSpans', 'scopeSpans', 'spans'])
  const outbox = openOutbox<SentSpan>(options, {
    ...{ what: 'Traces', path: '/v1/traces' },
    encode: (spans) => around(spans.map(spanText)),
  })
  const aroundLogs = envelope(options.service, ['resourceLogs', 'scopeLogs', 'logRecords'])
  const logs = options.sendsLogs
    ? openOutbox<LogPiece>(options, {
        ...{ what: 'Logs', path: '/v1/logs' },
        encode: (pieces) => aroundLogs(pieces.map(logText)),
      })
    : undefined
  let measuring: Measuring | undefined
  const spans: SpanSource = { id: idsOf(options.random), send: outbox.add }
  const isSampled = sampler(options)
  /** What a traced run has caused is always traced. */
  function caused(kind: number, text: string | undefined): Span | undefined {
    const place = text === undefined ? undefined : tracePlace(text)
    if (place) return place.sampled ? new OpenSpan(spans, kind, place) : undefined
    return kind !== spanKinds.client && isSampled(undefined)
      ? new OpenSpan(spans, spanKinds.consumer, undefined)
      : undefined
  }
  return {
    request(traceparent) {
      // Nearly all: nothing is read and nothing is made.
      if (traceparent === undefined)
        return isSampled(undefined) ? new OpenSpan(spans, spanKinds.server, undefined) : undefined
      const place = tracePlace(traceparent)
      return isSampled(place?.sampled) ? new OpenSpan(spans, spanKinds.server, place) : undefined
    },
    run: (text) => caused(spanKinds.internal, text),
    job: (text) => caused(spanKinds.consumer, text),
    call: (text) => caused(spanKinds.client, text),
    log: (piece) => logs?.add(piece),
    measure(all) {
      if (options.metricsEvery !== undefined) measuring = openMeasuring(options, options.metricsEvery, all)
    },
    async close() {
      // What they say of each other's failures is in the log.
      await Promise.all([outbox.close(), measuring?.close()])
      await logs?.close()
    },
  }
}

interface Measuring {
  /** Sends them once more, then no longer. */
  close(): Promise<void>
}

/** Of 5,000 routes there are 5,000 histograms: a text at a time, so that no turn of the event loop is long. */
function openMeasuring(
  options: TelemetryOptions,
  every: number,
  all: () => Promise<readonly Metric[]>,
): Measuring {
  const around = envelope(options.service, ['resourceMetrics', 'scopeMetrics', 'metrics'])
  // What waits is of the past: the next reading has all of it.
  const outbox = openOutbox<string>(options, {
    ...{ what: 'Metrics', path: '/v1/metrics', encode: around, most: { waiting: 100, batch: 20 } },
  })
  let since = 0
  let reading: Promise<void> | undefined
  async function read(): Promise<void> {
    try {
      const times = { began: performance.timeOrigin, since, now: spanTime() }
      for (const text of metricTexts(await all(), times)) {
        outbox.add(text)
        await setImmediate()
      }
      since = times.now
    } catch (error) {
      options.failed(`The metrics could not be read: ${String(error)}`)
    }
  }
  const look = () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
  const timer = setInterval(look, every).unref()
  return {
    async close() {
      clearInterval(timer)
      await look()
      await outbox.close()
    },
  }
}

/** What all spans of a node share. */
interface SpanSource {
  /** Hexadecimal digits of so many random bytes. */
  readonly id: (bytes: 8 | 16) => string
  readonly send: (span: SentSpan) => void
}

function idsOf(random: Random): SpanSource['id'] {
  const all = { 8: Buffer.alloc(8), 16: Buffer.alloc(16) }
  return (length) => {
    const bytes = all[length]
    random(bytes)
    // Zeros alone are no id.
    if (bytes.every((byte) => byte === 0)) bytes[0] = 1
    return bytes.toString('hex')
  }
}

class OpenSpan implements Span {
  readonly #source: SpanSource
  readonly #kind: number
  readonly #traceId: string
  readonly #spanId: string
  readonly #parent: string
  readonly #began = spanTime()
  #pieces = 0

  constructor(source: SpanSource, kind: number, parent: Omit<TracePlace, 'sampled'> | undefined) {
    this.#source = source
    this.#kind = kind
    this.#traceId = parent?.traceId ?? source.id(16)
    this.#parent = parent?.spanId ?? ''
    this.#spanId = source.id(8)
  }

  get place(): string {
    return `00-${this.#traceId}-${this.#spanId}-01`
  }

  add(piece: SpanPiece): void {
    this.#pieces += 1
    if (this.#pieces > MOST_PIECES) return
    const [traceId, spanId, parent] = [this.#traceId, this.#source.id(8), this.#spanId]
    this.#source.send({ ...{ traceId, spanId, parent, kind: spanKinds.internal }, ...piece })
  }

  call(): OpenPiece | undefined {
    this.#pieces += 1
    if (this.#pieces > MOST_PIECES) return undefined
    return new OpenSpan(this.#source, spanKinds.client, { traceId: this.#traceId, spanId: this.#spanId })
  }

  end({ name, attributes, failed }: SpanEnd): void {
    const leftOut = this.#pieces - MOST_PIECES
    this.#source.send({
      ...{ traceId: this.#traceId, spanId: this.#spanId, parent: this.#parent, kind: this.#kind },
      ...{ name, failed, began: this.#began, ended: spanTime() },
      attributes: leftOut > 0 ? { ...attributes, 'quoin.left_out': leftOut } : attributes,
    })
  }
}

/** `decided`: by who sent the request. */
function sampler({ share, clock, draw }: Pick<TelemetryOptions, 'share' | 'clock' | 'draw'>) {
  let [second, left] = [0, 0]
  let ahead = unsampled(share, draw())
  return (decided: boolean | undefined): boolean => {
    if (decided === undefined && ahead > 0) {
      ahead -= 1
      return false
    }
    if (decided === undefined) ahead = unsampled(share, draw())
    if (!(decided ?? share > 0)) return false
    const now = Math.floor(clock() / 1000)
    if (now !== second) [second, left] = [now, MOST_A_SECOND]
    if (left === 0) return false
    left -= 1
    return true
  }
}

/** A whole number of 31 bits, which is compared without a box. */
const MOST_UNSAMPLED = 2 ** 30

/** How many come before the next one that is sampled. Drawn once for all of them: each costs one comparison, and has the same chance as if it were drawn itself. */
function unsampled(share: number, drawn: number): number {
  if (share <= 0) return MOST_UNSAMPLED
  return Math.min(MOST_UNSAMPLED, Math.floor(Math.log(1 - drawn) / Math.log(1 - share)))
}
