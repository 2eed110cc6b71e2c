/** Receivers of the audit log. `send` resolves when the receiver has taken all records, as far as its protocol says so. */
import { connect as connectPlain, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { connect as connectTls } from 'node:tls'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { ChainedRecord } from '../audit-chain.ts'

/** For one batch, from the connection to the acknowledgement. */
const PATIENCE_MS = 10_000

/** `space`: its guid, where the record is of a space and not of the operator. */
type SentRecord = ChainedRecord & { readonly space?: string }

export interface AuditReceiver {
  send(entries: readonly ChainedRecord[], signal: AbortSignal): Promise<void>
}

export interface ReceiverAddress {
  /** As `QUOIN_AUDIT_STREAM` has it. */
  readonly url: string
  readonly token: string
  /** The guid of the space whose records these are: the receiver tells them apart by it. */
  readonly space?: string | undefined
  /** Certificates that are trusted besides those of Node. */
  readonly ca?: string
  /** 10 seconds if not given. */
  readonly patience?: number
}

type Send = (entries: readonly SentRecord[], signal: AbortSignal) => Promise<void>

export function auditReceiver(address: ReceiverAddress): AuditReceiver {
  const { url, space } = address
  const over = url.startsWith('http') ? overHttp : url.startsWith('otlp') ? overOtlp : overSyslog
  const send = over(address)
  if (space === undefined) return { send }
  return {
    send: (entries, signal) =>
      send(
        entries.map((entry) => ({ ...entry, space })),
        signal,
      ),
  }
}

/** One request a batch; a reply of 2xx acknowledges it. */
function overHttp(address: ReceiverAddress): Send {
  return async (entries, signal) => {
    const body = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    const reply = await post(address, address.url, { type: 'application/x-ndjson', body, signal })
    await reply.body?.cancel()
  }
}

/** Logs of OTLP (opentelemetry-proto 1.x) in JSON. An address without a path is that of a collector, as in `OTEL_EXPORTER_OTLP_ENDPOINT`. */
function overOtlp(address: ReceiverAddress): Send {
  const url = new URL(address.url.replace(/^otlp\+/, ''))
  if (url.pathname === '/') url.pathname = '/v1/logs'
  return async (entries, signal) => {
    const resource = {
      attributes: [textAttribute('service.name', 'quoin'), textAttribute('host.name', hostname())],
    }
    const scopeLogs = [{ scope: { name: 'quoin.audit' }, logRecords: entries.map(logRecord) }]
    const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] })
    const reply = await post(address, url.href, { type: 'application/json', body, signal })
    const problem = rejection(await firstText(reply))
    if (problem !== undefined) throw new Error(problem)
  }
}

interface Posted {
  readonly type: string
  readonly body: string
  readonly signal: AbortSignal
}

async function post(
  { token, patience = PATIENCE_MS }: ReceiverAddress,
  url: string,
  { type, body, signal }: Posted,
): Promise<Response> {
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  const reply = await fetch(url, {
    ...{ method: 'POST', redirect: 'error', body },
    headers: { 'content-type': type, ...authorization },
    signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
  })
  if (reply.ok) return reply
  await reply.body?.cancel()
  throw new Error(`the receiver replied ${reply.status}`)
}

/** Severity 9 is INFO. */
function logRecord(entry: SentRecord) {
  const time = `${entry.at}000000`
  return {
    ...{ timeUnixNano: time, observedTimeUnixNano: time, severityNumber: 9, severityText: 'INFO' },
    body: { stringValue: JSON.stringify(entry) },
    attributes: [
      textAttribute('event.name', kindOf(entry)),
      { key: 'audit.place', value: { intValue: `${entry.place}` } },
      textAttribute('audit.chain', entry.chain),
      ...(entry.space === undefined ? [] : [textAttribute('quoin.space', entry.space)]),
    ],
  }
}

function textAttribute(key: string, value: string) {
  return { key, value: { stringValue: value } }
}

/** Of a reply of OTLP: it has no list, but a number and a sentence. */
const LONGEST_REPLY = 64 * 1024

async function firstText(reply: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of reply.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > LONGEST_REPLY) break
  }
  return Buffer.concat(chunks).toString()
}

/** A collector that takes some and rejects others replies 200: none of them counts as taken then, so the batch gets smaller until the one is found. */
function rejection(text: string): string | undefined {
  const reply = parsed(text)
  const partial = isJsonObject(reply) && isJsonObject(reply.partialSuccess) ? reply.partialSuccess : {}
  const rejected = Number(partial.rejectedLogRecords ?? 0)
  if (rejected === 0) return undefined
  return `the receiver rejected ${rejected} records: ${textIn(partial.errorMessage).slice(0, 200)}`
}

/** An empty body, or one in protobuf, rejects nothing that can be read. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * One connection a batch. Syslog has no acknowledgement, so the end of the connection is one: we close our side, and a receiver closes its own when
 * it has read to the end. What only lies in a buffer of the system counts as not sent.
 */
function overSyslog({ url, ca, patience = PATIENCE_MS }: ReceiverAddress): Send {
  const { protocol, hostname: named, port } = new URL(url)
  const host = named.replace(/^\[|\]$/g, '')
  const to = { host, port: Number(port) }
  const open = (): Socket =>
    protocol === 'syslog+tls:' ? connectTls({ ...to, servername: host, ...(ca && { ca }) }) : connectPlain(to)
  return async (entries, signal) => {
    const frames = Buffer.concat(entries.map((entry) => syslogFrame(entry, hostname())))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const socket = open()
    const stop = AbortSignal.any([signal, AbortSignal.timeout(patience)])
    const end = () => socket.destroy(new Error('the receiver did not read to the end in time'))
    stop.addEventListener('abort', end, { once: true })
    let isRead = false
    socket.on('end', () => {
      // Before all is written this is a receiver that goes away.
      isRead = socket.writableFinished
    })
    socket.on('error', reject)
    socket.on('close', () =>
      isRead ? resolve() : reject(new Error('the receiver closed the connection early')),
    )
    socket.resume()
    socket.end(frames)
    try {
      if (stop.aborted) end()
      await promise
    } finally {
      stop.removeEventListener('abort', end)
      socket.destroy()
    }
  }
}

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5
/** Receivers must take 2 KiB, and most take 8 KiB: what is longer they cut, and then it is no JSON. */
const LONGEST = 8_000

/** A record of the audit log as a message of syslog (RFC 5424), framed by its length (RFC 6587, RFC 5425). */
export function syslogFrame(entry: SentRecord, host: string): Buffer {
  const time = new Date(entry.at).toISOString()
  const space = entry.space === undefined ? '' : ` space="${entry.space}"`
  const place = `[audit@32473 place="${entry.place}" chain="${entry.chain}"${space}]`
  const header = `<${PRIORITY}>1 ${time} ${printable(host, 255)} quoin - ${printable(kindOf(entry), 32)} ${place}`
  const message = Buffer.from(`${header} \uFEFF${textOf(entry)}`)
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

function kindOf({ audit }: ChainedRecord): string {
  return audit === null ? 'chain' : `${textIn(audit.category)}.${textIn(audit.action)}`
}

/** The values before and after are left out where they would make the message too long; the log of the cluster has them. */
function textOf(entry: SentRecord): string {
  const whole = JSON.stringify(entry)
  if (Buffer.byteLength(whole) <= LONGEST || entry.audit === null) return whole
  const { _meta = null, category = '', action = '', guid = '', user = null } = entry.audit
  const audit: JsonObject = { _meta, category, action, guid, user, left_out: Buffer.byteLength(whole) }
  return JSON.stringify({ ...entry, audit })
}

function printable(value: string, most: number): string {
  const fitting = value.replace(/[^!-~]/g, '_').slice(0, most)
  return fitting === '' ? '-' : fitting
}
