/** A record of the audit log as a message of syslog (RFC 5424), framed by its length (RFC 6587, RFC 5425). */
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { ChainedRecord } from '../audit-chain.ts'

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5
/** Receivers must take 2 KiB, and most take 8 KiB: what is longer they cut, and then it is no JSON. */
const LONGEST = 8_000

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
