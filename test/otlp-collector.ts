/**
 * A receiver of OTLP over HTTP in JSON. It reads requests by the published definitions of the protocol (opentelemetry-proto, as the package of the
 * JavaScript SDK compiles them) and refuses each field that they do not have, and each value of another type.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import { isJsonObject, type JsonObject, type JsonValue } from '../src/shared/json.ts'
import { startLocalServer } from './local-server.ts'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  /** 2 for a failure. */
  readonly status: number
  readonly attributes: JsonObject
  readonly began: bigint
  readonly ended: bigint
}

interface CollectedPoint {
  readonly attributes: JsonObject
  /** Of a histogram its count. */
  readonly value: number
  /** Of a histogram, each with what is above the one before. */
  readonly buckets: readonly number[]
  readonly exemplars: readonly { readonly value: number; readonly traceId: string; readonly spanId: string }[]
}

export interface CollectedMetric {
  readonly name: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly unit: string
  readonly points: readonly CollectedPoint[]
}

interface CollectedLog {
  readonly severity: number
  readonly body: string
  readonly traceId: string
  readonly attributes: JsonObject
}

export interface Collector {
  readonly url: string
  readonly spans: CollectedSpan[]
  readonly metrics: CollectedMetric[]
  readonly logs: CollectedLog[]
  readonly headers: IncomingHttpHeaders[]
  /** All that came, as text. */
  readonly texts: string[]
  /** Attributes of the resources. */
  readonly resources: JsonObject[]
  readonly faults: string[]
  /** What it replies; 200 at first. */
  status: number
  /** How many requests had another reply. */
  refused: number
  close(): Promise<void>
}

export async function openCollector(): Promise<Collector> {
  const collected = {
    spans: [] as CollectedSpan[],
    metrics: [] as CollectedMetric[],
    logs: [] as CollectedLog[],
    headers: [] as IncomingHttpHeaders[],
    texts: [] as string[],
    resources: [] as JsonObject[],
    faults: [] as string[],
    status: 200,
    refused: 0,
  }
  const server = await startLocalServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (collected.status !== 200) collected.refused += 1
    else {
      collected.headers.push(request.headers)
      collected.texts.push(text)
      try {
        const body: JsonValue = JSON.parse(text)
        const kind = kinds[request.url ?? '']
        if (!kind) throw new Error(`the path is ${request.url}`)
        const { names } = kind
        checkDefined(body, kind.message)
        for (const resource of listIn(body, names[0])) {
          collected.resources.push(attributesOf(objectIn(resource, 'resource')))
          for (const scope of listIn(resource, names[1]))
            for (const item of listIn(scope, names[2])) {
              if (names[2] === 'spans') collected.spans.push(spanOf(item))
              else if (names[2] === 'metrics') collected.metrics.push(metricOf(item))
              else collected.logs.push(logOf(item))
            }
        }
      } catch (error) {
        collected.faults.push(String(error))
      }
    }
    response.writeHead(collected.status, { 'content-type': 'application/json' }).end('{}')
  })
  return Object.assign(collected, { url: server.url, close: server.close })
}

/** What the compiler of the definitions makes of a message. */
interface Message {
  fromObject(sent: JsonObject): object
  verify(read: object): string | null
  /** `arrays`: with empty lists. Whole numbers of 64 bits as texts. */
  toObject(read: object, as: { longs: StringConstructor; bytes: StringConstructor; arrays: true }): JsonValue
}

interface Definitions {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Message } }
        readonly metrics: { readonly v1: { readonly ExportMetricsServiceRequest: Message } }
        readonly logs: { readonly v1: { readonly ExportLogsServiceRequest: Message } }
      }
    }
  }
}

const definitions: Definitions = createRequire(import.meta.url)(
  '@opentelemetry/otlp-transformer/build/src/generated/root.js',
)
const { trace, metrics, logs } = definitions.opentelemetry.proto.collector

interface Kind {
  readonly names: readonly [string, string, string]
  readonly message: Message
}

const kinds: Readonly<Record<string, Kind>> = {
  '/v1/traces': {
    names: ['resourceSpans', 'scopeSpans', 'spans'],
    message: trace.v1.ExportTraceServiceRequest,
  },
  '/v1/metrics': {
    names: ['resourceMetrics', 'scopeMetrics', 'metrics'],
    message: metrics.v1.ExportMetricsServiceRequest,
  },
  '/v1/logs': {
    names: ['resourceLogs', 'scopeLogs', 'logRecords'],
    message: logs.v1.ExportLogsServiceRequest,
  },
}

/** Read by the definitions and written again, nothing may be missing or another. Ids are in hexadecimal digits, which base64 has too. */
function checkDefined(body: JsonValue, message: Message): void {
  if (!isJsonObject(body)) throw new Error('the body is no object')
  const read = message.fromObject(body)
  const problem = message.verify(read)
  if (problem !== null) throw new Error(problem)
  compare(body, message.toObject(read, { longs: String, bytes: String, arrays: true }), 'body')
}

function compare(sent: JsonValue, read: JsonValue | undefined, at: string): void {
  if (Array.isArray(sent)) {
    if (!Array.isArray(read) || read.length !== sent.length) throw new Error(`${at} is no list`)
    sent.forEach((one: JsonValue, place) => {
      compare(one, read[place], `${at}[${place}]`)
    })
  } else if (isJsonObject(sent)) {
    if (!isJsonObject(read)) throw new Error(`${at} is no message`)
    for (const [name, one] of Object.entries(sent)) {
      if (!Object.hasOwn(read, name)) throw new Error(`${at}.${name} is not in the definitions`)
      compare(one, read[name], `${at}.${name}`)
    }
  } else if (sent !== read)
    throw new Error(`${at} is ${JSON.stringify(sent)}, and was read as ${JSON.stringify(read)}`)
}

function metricOf(metric: JsonObject): CollectedMetric {
  const { name, unit } = metric
  if (typeof name !== 'string' || typeof unit !== 'string') throw new Error('a metric has no name or unit')
  const [kind, ...more] = (['gauge', 'sum', 'histogram'] as const).filter((one) => metric[one] !== undefined)
  if (kind === undefined || more.length > 0) throw new Error(`${name} has not one kind of data`)
  const data = objectIn(metric, kind)
  if (kind !== 'gauge' && data.aggregationTemporality !== 2) throw new Error(`${name} is not cumulative`)
  const points = listIn(data, 'dataPoints').map((point) => pointOf(kind, point))
  return { name, unit, kind, points }
}

function pointOf(kind: CollectedMetric['kind'], point: JsonObject): CollectedPoint {
  if (nanoseconds(point.timeUnixNano) < nanoseconds(point.startTimeUnixNano))
    throw new Error('a point is before its start')
  const attributes = attributesOf(point)
  if (kind !== 'histogram') {
    const value = point.asInt === undefined ? numberIn(point, 'asDouble') : wholeIn(point.asInt)
    return { attributes, value, buckets: [], exemplars: [] }
  }
  const { bucketCounts, explicitBounds, exemplars } = point
  if (!Array.isArray(bucketCounts) || !Array.isArray(explicitBounds)) throw new Error('no buckets')
  const buckets = bucketCounts.map(wholeIn)
  if (buckets.length !== explicitBounds.length + 1) throw new Error('buckets and bounds do not fit')
  if (
    !explicitBounds.every((one, at) => typeof one === 'number' && one > Number(explicitBounds[at - 1] ?? -1))
  )
    throw new Error('bounds do not rise')
  const value = wholeIn(point.count)
  if (buckets.reduce((sum, one) => sum + one, 0) !== value) throw new Error('buckets are not the count')
  numberIn(point, 'sum')
  const all = exemplars === undefined ? [] : listIn(point, 'exemplars')
  return {
    ...{ attributes, value, buckets },
    exemplars: all.map((one) => {
      nanoseconds(one.timeUnixNano)
      const [traceId, spanId] = [hexadecimal(one.traceId, 32), hexadecimal(one.spanId, 16)]
      return { value: numberIn(one, 'asDouble'), traceId, spanId }
    }),
  }
}

function logOf(record: JsonObject): CollectedLog {
  const { severityNumber, traceId, spanId, timeUnixNano, observedTimeUnixNano } = record
  nanoseconds(timeUnixNano)
  nanoseconds(observedTimeUnixNano)
  const { stringValue } = objectIn(record, 'body')
  if (typeof stringValue !== 'string') throw new Error('a record of a log has no text')
  if (typeof severityNumber !== 'number' || severityNumber < 1 || severityNumber > 24)
    throw new Error(`the severity ${String(severityNumber)} is none`)
  if (traceId !== undefined) hexadecimal(spanId, 16)
  return {
    ...{ severity: severityNumber, body: stringValue, attributes: attributesOf(record) },
    traceId: traceId === undefined ? '' : hexadecimal(traceId, 32),
  }
}

function numberIn(holder: JsonObject, name: string): number {
  const value = holder[name]
  if (typeof value !== 'number') throw new Error(`${name} is no number`)
  return value
}

/** In JSON a number of 64 bits is a text. */
function wholeIn(value: JsonValue | undefined): number {
  if (typeof value !== 'string' || !/^-?\d+$/.test(value))
    throw new Error(`${String(value)} is no whole number`)
  return Number(value)
}

function spanOf(span: JsonObject): CollectedSpan {
  const { name, kind, startTimeUnixNano, endTimeUnixNano, status } = span
  if (typeof name !== 'string' || name === '') throw new Error('a span has no name')
  if (typeof kind !== 'number' || kind < 1 || kind > 5) throw new Error(`the kind ${String(kind)} is none`)
  const [began, ended] = [nanoseconds(startTimeUnixNano), nanoseconds(endTimeUnixNano)]
  if (ended < began) throw new Error(`${name} ends before it begins`)
  return {
    traceId: hexadecimal(span.traceId, 32),
    spanId: hexadecimal(span.spanId, 16),
    parentSpanId: span.parentSpanId === undefined ? '' : hexadecimal(span.parentSpanId, 16),
    ...{ name, kind, began, ended, attributes: attributesOf(span) },
    status: isJsonObject(status) && typeof status.code === 'number' ? status.code : 0,
  }
}

function hexadecimal(value: JsonValue | undefined, length: number): string {
  if (
    typeof value !== 'string' ||
    !/^[0-9a-f]+$/.test(value) ||
    value.length !== length ||
    !/[^0]/.test(value)
  )
    throw new Error(`${String(value)} is no id of ${length} digits`)
  return value
}

function nanoseconds(value: JsonValue | undefined): bigint {
  if (typeof value !== 'string' || !/^\d{19}$/.test(value)) throw new Error(`${String(value)} is no time`)
  return BigInt(value)
}

function attributesOf(holder: JsonObject): JsonObject {
  return Object.fromEntries(
    listIn(holder, 'attributes').map(({ key, value }) => {
      const [[kind, one] = []] = Object.entries(isJsonObject(value) ? value : {})
      if (
        typeof key !== 'string' ||
        !['stringValue', 'intValue', 'boolValue', 'doubleValue'].includes(kind ?? '')
      )
        throw new Error(`${JSON.stringify({ key, value })} is no attribute`)
      if (kind !== 'intValue') return [key, one ?? null]
      return [key, wholeIn(one)]
    }),
  )
}

function objectIn(holder: JsonObject, name: string): JsonObject {
  const value = holder[name]
  if (!isJsonObject(value)) throw new Error(`${name} is no object`)
  return value
}

function listIn(holder: JsonValue, name: string): JsonObject[] {
  const value = isJsonObject(holder) ? holder[name] : undefined
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw new Error(`${name} is no list of objects`)
  return value
}
