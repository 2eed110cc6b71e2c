/**
 * Sends traces by OTLP with the SDK of OpenTelemetry. Loaded only where `OTEL_EXPORTER_OTLP_ENDPOINT` is set. What cannot be sent is dropped: at
 * most 2,048 pieces wait in memory, and no request waits for them.
 */
import {
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Clock } from '../shared/clock.ts'
import { type Span, type SpanEnd, spanTime, type Telemetry, tracePlace } from '../shared/telemetry.ts'

/** Of one node in a second: then the cost does not grow with the load, nor with what strangers ask for by a header. */
const MOST_A_SECOND = 100
/** Of one request or run. */
const MOST_PIECES = 200
const TIMEOUT_MS = 5_000
const EVERY_MS = 1_000
/** Failures in a row that are reported: the third, and then each sixtieth. */
const REPORTED = 3
const AGAIN = 60

export interface TelemetryOptions {
  /** Of the collector, without a slash at its end. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** The share of requests and runs that are sampled, where nothing before them has decided: 0 to 1. */
  readonly share: number
  readonly service: { readonly name: string; readonly version: string; readonly node: string }
  readonly clock: Clock
  /** 0 to 1. */
  readonly draw: () => number
  readonly failed: (message: string) => void
}

export interface OpenTelemetry extends Telemetry {
  /** Sends what waits, for five seconds at most. */
  close(): Promise<void>
}

export function openTelemetry(options: TelemetryOptions): OpenTelemetry {
  const { endpoint, headers, service } = options
  const url = `${endpoint}/v1/traces`
  const exporter = reporting(
    new OTLPTraceExporter({ url, headers, timeoutMillis: TIMEOUT_MS }),
    options.failed,
  )
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': service.name,
      'service.version': service.version,
      'service.instance.id': service.node,
    }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, exportTimeoutMillis: TIMEOUT_MS, scheduledDelayMillis: EVERY_MS }),
    ],
  })
  const tracer = provider.getTracer('quoin', service.version)
  const isSampled = sampler(options)

  function begin(kind: SpanKind, place: string | undefined): Span {
    const parent = contextOf(place)
    const span = tracer.startSpan('', { kind, startTime: spanTime() }, parent)
    const context = trace.setSpan(ROOT_CONTEXT, span)
    let pieces = 0
    return {
      place: placeOf(span),
      add({ began, ended, ...how }) {
        pieces += 1
        if (pieces > MOST_PIECES) return
        finish(tracer.startSpan(how.name, { startTime: began }, context), how, ended)
      },
      call() {
        pieces += 1
        return pieces > MOST_PIECES ? undefined : begin(SpanKind.CLIENT, placeOf(span))
      },
      end(how) {
        if (pieces > MOST_PIECES) span.setAttribute('quoin.left_out', pieces - MOST_PIECES)
        finish(span, how, spanTime())
      },
    }
  }
  return {
    request(traceparent) {
      // Nearly all: nothing is read and nothing is made.
      if (traceparent === undefined)
        return isSampled(undefined) ? begin(SpanKind.SERVER, undefined) : undefined
      const place = tracePlace(traceparent)
      if (!isSampled(place?.sampled)) return undefined
      return begin(SpanKind.SERVER, place && String(traceparent))
    },
    run(text) {
      const place = text === undefined ? undefined : tracePlace(text)
      if (place) return place.sampled ? begin(SpanKind.INTERNAL, text) : undefined
      return isSampled(undefined) ? begin(SpanKind.CONSUMER, undefined) : undefined
    },
    close: () => provider.shutdown().catch(() => undefined),
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

function contextOf(text: string | undefined) {
  const place = tracePlace(text)
  if (!place) return ROOT_CONTEXT
  const { traceId, spanId } = place
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  })
}

function placeOf(span: SdkSpan): string {
  const { traceId, spanId } = span.spanContext()
  return `00-${traceId}-${spanId}-01`
}

function finish(span: SdkSpan, { name, attributes, failed }: SpanEnd, ended: number): void {
  span.updateName(name)
  span.setAttributes(attributes)
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(ended)
}

function reporting(exporter: SpanExporter, failed: TelemetryOptions['failed']): SpanExporter {
  let failures = 0
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        failures = result.error ? failures + 1 : 0
        if (failures % AGAIN === REPORTED)
          failed(
            `Traces could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT ${failures} times in a row, and were dropped: ${String(result.error)}`,
          )
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}
