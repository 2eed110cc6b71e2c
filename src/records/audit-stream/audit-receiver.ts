/** Receivers of the audit log. `send` resolves when the receiver has taken all records, as far as its protocol says so. */
import { connect as connectPlain, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { ChainedRecord } from '../audit-chain.ts'
import { syslogFrame } from './syslog-line.ts'

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
