/** A receiver of OTLP over HTTP in JSON, which refuses what the protocol's definition does not have (opentelemetry-proto 1.x, trace.proto). */
import type { IncomingHttpHeaders } from 'node:http'
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

export interface Collector {
  readonly url: string
  readonly spans: CollectedSpan[]
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
        if (request.url !== '/v1/traces') throw new Error(`the path is ${request.url}`)
        for (const resource of listIn(JSON.parse(text), 'resourceSpans')) {
          collected.resources.push(attributesOf(objectIn(resource, 'resource')))
          for (const scope of listIn(resource, 'scopeSpans'))
            for (const span of listIn(scope, 'spans')) collected.spans.push(spanOf(span))
        }
      } catch (error) {
        collected.faults.push(String(error))
      }
    }
    response.writeHead(collected.status, { 'content-type': 'application/json' }).end('{}')
  })
  return Object.assign(collected, { url: server.url, close: server.close })
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
      // In JSON a number of 64 bits is a text.
      if (typeof one !== 'string' || !/^-?\d+$/.test(one)) throw new Error(`${key} is no whole number`)
      return [key, Number(one)]
    }),
  )
}

function objectIn(holder: JsonObject, name: string): JsonObject {
  const value = holder[name]
  if (!isJsonObject(value)) throw new Error(`${name} is no object`)
  return value
}

function listIn(holder: JsonObject, name: string): JsonObject[] {
  const value = holder[name]
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw new Error(`${name} is no list of objects`)
  return value
}
