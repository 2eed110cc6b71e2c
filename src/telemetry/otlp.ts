/** The form of OTLP in JSON: opentelemetry-proto 1.x, traces, metrics and logs. */
import {
  type LogPiece,
  type Metric,
  type Sample,
  type SpanAttributes,
  tracePlace,
} from '../shared/telemetry.ts'

/** Kinds of spans, as the protocol numbers them. */
export const spanKinds = { internal: 1, server: 2, client: 3, consumer: 5 } as const

export interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for none. */
  readonly parent: string
  readonly kind: number
  readonly name: string
  readonly attributes: SpanAttributes
  readonly failed: boolean
  /** Milliseconds since 1970, with fractions. */
  readonly began: number
  readonly ended: number
}

/** Text, and not objects for `JSON.stringify`: a third of the time, and nothing that a client sends is in it but as an attribute. */
export function spanText({ traceId, spanId, parent, kind, began, ended, ...how }: SentSpan): string {
  const { name, attributes, failed } = how
  const above = parent === '' ? '' : `"parentSpanId":"${parent}",`
  const times = `"startTimeUnixNano":"${nanoseconds(began)}","endTimeUnixNano":"${nanoseconds(Math.max(began, ended))}"`
  const status = failed ? ',"status":{"code":2}' : ''
  return `{"traceId":"${traceId}","spanId":"${spanId}",${above}"name":${JSON.stringify(name)},"kind":${kind},${times},"attributes":${attributesText(attributes)}${status}}`
}

/** Of milliseconds with fractions, to the microsecond: more than that a number of this size does not hold. */
function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1_000)}000`
}

function attributesText(attributes: SpanAttributes): string {
  let text = ''
  for (const key in attributes) {
    const value = attributes[key]
    if (value === undefined) continue
    const kind =
      typeof value === 'string' ? 'stringValue' : typeof value === 'boolean' ? 'boolValue' : undefined
    const typed =
      kind !== undefined
        ? `"${kind}":${JSON.stringify(value)}`
        : Number.isSafeInteger(value)
          ? `"intValue":"${value}"`
          : `"doubleValue":${value}`
    text += `${text === '' ? '' : ','}{"key":${JSON.stringify(key)},"value":{${typed}}}`
  }
  return `[${text}]`
}

/** Of one service: its resource and scope around what is in it. */
export function envelope(
  service: { readonly name: string; readonly version: string; readonly node: string },
  [resources, scopes, items]: readonly [string, string, string],
): (texts: readonly string[]) => string {
  const resource = attributesText({
    'service.name': service.name,
    'service.version': service.version,
    'service.instance.id': service.node,
  })
  const scope = JSON.stringify({ name: 'quoin', version: service.version })
  const head = `{"${resources}":[{"resource":{"attributes":${resource}},"${scopes}":[{"scope":${scope},"${items}":[`
  return (texts) => `${head}${texts.join(',')}]}]}]}`
}

/** Numbers of severity, as the protocol has them. */
const severities = { debug: 5, info: 9, warn: 13, error: 17 } as const

export function logText({ level, message, at, place, attributes }: LogPiece): string {
  const trace = tracePlace(place)
  const ids = trace ? `,"traceId":"${trace.traceId}","spanId":"${trace.spanId}"` : ''
  const severity = `"severityNumber":${severities[level]},"severityText":"${level.toUpperCase()}"`
  const times = `"timeUnixNano":"${nanoseconds(at)}","observedTimeUnixNano":"${nanoseconds(at)}"`
  return `{${times},${severity},"body":{"stringValue":${JSON.stringify(message)}},"attributes":${attributesText(attributes)}${ids}}`
}

/** Points of one text at most: what is made of more is more texts, each with the name of the metric. */
const MOST_POINTS = 500

/** Cumulative since `began`. `since`: only exemplars behind it are new. Milliseconds since 1970. */
export function* metricTexts(
  metrics: readonly Metric[],
  times: { readonly began: number; readonly since: number; readonly now: number },
): Generator<string> {
  for (const metric of metrics) {
    let points: string[] = []
    for (const point of metric.type === 'histogram'
      ? histogramPoints(metric, times)
      : plainPoints(metric, times)) {
      points.push(point)
      if (points.length < MOST_POINTS) continue
      yield metricText(metric, points)
      points = []
    }
    if (points.length > 0) yield metricText(metric, points)
  }
}

type Times = Parameters<typeof metricTexts>[1]

function metricText({ name, help, type }: Metric, points: readonly string[]): string {
  const unit = /_seconds(?:_total)?$/.test(name) ? 's' : /_bytes(?:_total)?$/.test(name) ? 'By' : '1'
  const all = `"dataPoints":[${points.join(',')}]`
  const data = {
    gauge: `"gauge":{${all}}`,
    // 2: cumulative.
    counter: `"sum":{"aggregationTemporality":2,"isMonotonic":true,${all}}`,
    histogram: `"histogram":{"aggregationTemporality":2,${all}}`,
  }[type]
  return `{"name":${JSON.stringify(name)},"description":${JSON.stringify(help)},"unit":"${unit}",${data}}`
}

function pointHead(labels: SpanAttributes, { began, now }: Times): string {
  return `"attributes":${attributesText(labels)},"startTimeUnixNano":"${nanoseconds(began)}","timeUnixNano":"${nanoseconds(now)}"`
}

function* plainPoints({ samples }: Metric, times: Times): Generator<string> {
  for (const { labels = {}, value } of samples) {
    const number = Number.isSafeInteger(value) ? `"asInt":"${value}"` : `"asDouble":${value}`
    if (Number.isFinite(value)) yield `{${pointHead(labels, times)},${number}}`
  }
}

/** Prometheus has a sample for each bucket, with all that are smaller; OTLP has one point with each bucket's own. */
function* histogramPoints({ samples }: Metric, times: Times): Generator<string> {
  let bounds: string[] = []
  let counts: number[] = []
  let before = 0
  let sum = 0
  for (const { labels = {}, value, suffix, exemplar } of samples) {
    if (suffix === '_bucket') {
      if (labels.le !== '+Inf') bounds.push(labels.le ?? '')
      counts.push(value - before)
      before = value
    } else if (suffix === '_sum') sum = value
    else {
      const own = counts.map((count) => `"${count}"`).join(',')
      const newest = exemplar && exemplar.at > times.since ? `,"exemplars":[${exemplarText(exemplar)}]` : ''
      yield `{${pointHead(labels, times)},"count":"${value}","sum":${sum},"bucketCounts":[${own}],"explicitBounds":[${bounds.join(',')}]${newest}}`
      bounds = []
      counts = []
      before = 0
    }
  }
}

function exemplarText({ at, value, place }: NonNullable<Sample['exemplar']>): string {
  const trace = tracePlace(place)
  const ids = trace ? `,"traceId":"${trace.traceId}","spanId":"${trace.spanId}"` : ''
  return `{"timeUnixNano":"${nanoseconds(at)}","asDouble":${value}${ids}}`
}
