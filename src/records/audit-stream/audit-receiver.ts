/** Receivers of the audit log. `send` resolves when the receiver has taken all records, as far as its protocol says so. */
import { connect as connectPlain, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { ChainedRecord } from '../audit-chain.ts'

/** For one batch, from the connection to the acknowledgement. */
const PATIENCE_MS = 10_000

export interface AuditReceiver {
  send(entries: readonly ChainedRecord[], signal: AbortSignal): Promise<void>
}

export interface ReceiverAddress {
  /** As `QUOIN_AUDIT_STREAM` has it. */
  readonly url: string
  readonly token: string
  /** Certificates that are trusted besides those of Node. */
  readonly ca?: string
  /** 10 seconds if not given. */
  readonly patience?: number
}

export function auditReceiver(address: ReceiverAddress): AuditReceiver {
  return { send: address.url.startsWith('http') ? overHttp(address) : overSyslog(address) }
}

/** One request a batch; a reply of 2xx acknowledges it. */
function overHttp({ url, token, patience = PATIENCE_MS }: ReceiverAddress): AuditReceiver['send'] {
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }
  return async (entries, signal) => {
    const reply = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/x-ndjson', ...authorization },
      body: entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    })
    await reply.body?.cancel()
    if (!reply.ok) throw new Error(`the receiver replied ${reply.status}`)
  }
}

/**
 * One connection a batch. Syslog has no acknowledgement, so the end of the connection is one: we close our side, and a receiver closes its own when
 * it has read to the end. What only lies in a buffer of the system counts as not sent.
 */
function overSyslog({ url, ca, patience = PATIENCE_MS }: ReceiverAddress): AuditReceiver['send'] {
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
export function syslogFrame(entry: ChainedRecord, host: string): Buffer {
  const time = new Date(entry.at).toISOString()
  const kind =
    entry.audit === null ? 'chain' : `${textIn(entry.audit.category)}.${textIn(entry.audit.action)}`
  const place = `[audit@32473 place="${entry.place}" chain="${entry.chain}"]`
  const header = `<${PRIORITY}>1 ${time} ${printable(host, 255)} quoin - ${printable(kind, 32)} ${place}`
  const message = Buffer.from(`${header} \uFEFF${textOf(entry)}`)
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

/** The values before and after are left out where they would make the message too long; the log of the cluster has them. */
function textOf(entry: ChainedRecord): string {
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
