/** Distributed traces (W3C Trace Context, OpenTelemetry), metrics and logs, as code that makes them sees them. What sends them is `src/telemetry`. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** What is known of a piece of work when it is over. */
export interface SpanEnd {
  readonly name: string
  readonly attributes: SpanAttributes
  readonly failed: boolean
}

/** A piece of work within another one that is over. Milliseconds since 1970, with fractions. */
export interface SpanPiece extends SpanEnd {
  readonly began: number
  readonly ended: number
}

export interface Span extends OpenPiece {
  add(piece: SpanPiece): void
  /** A call of another server, from now on. undefined: it has too many pieces. */
  call(): OpenPiece | undefined
}

/** A piece that is not over yet. */
export interface OpenPiece {
  /** Its place in the trace, as the header `traceparent` writes it. */
  readonly place: string
  end(how: SpanEnd): void
}

export interface Telemetry {
  /** A request that has come in, with its header. undefined: it is not sampled, as nearly all. */
  request(traceparent: string | readonly string[] | undefined): Span | undefined
  /** A run: within `place`, or of its own where it is sampled. */
  run(place: string | undefined): Span | undefined
  /** One attempt of a job, in the same way. It decides for its run. */
  job(place: string | undefined): Span | undefined
  /** A call of another server within `place`; undefined where that is not traced. */
  call(place: string | undefined): OpenPiece | undefined
  /** Never waits and never throws. */
  log(piece: LogPiece): void
  /** Sends what it gives, again and again until the end. */
  measure(metrics: () => Promise<readonly Metric[]>): void
}

/** An entry of a log. */
export interface LogPiece {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Of the run that has written it, where that is traced. */
  readonly place: string | undefined
  readonly attributes: SpanAttributes
}

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
  readonly value: number
  /** What is added to the metric's name: `_bucket`, `_sum` and `_count` of a histogram, in this order. */
  readonly suffix?: string
  /** Of a histogram, at its `_count`: the last value that belongs to a trace. */
  readonly exemplar?: { readonly value: number; readonly at: number; readonly place: string } | undefined
}

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

/** Version, trace, parent, flags. */
const PLACE = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export interface TracePlace {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/** undefined for what is no place: zeros, or version ff, which never is one. */
export function tracePlace(text: unknown): TracePlace | undefined {
  const [, traceId = '', spanId = '', flags = ''] = (typeof text === 'string' && PLACE.exec(text)) || []
  if (!/[^0]/.test(traceId) || !/[^0]/.test(spanId) || String(text).startsWith('ff')) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Now, as the times of pieces: to the microsecond, and never back. */
export function spanTime(): number {
  return performance.timeOrigin + performance.now()
}
