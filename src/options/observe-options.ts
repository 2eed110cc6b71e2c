import { type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

/** Where the audit log is sent. The password goes into a setting of its own, so that the address may be shown. */
function streamAddress(input: string): string | undefined {
  if (input === '') return ''
  const url = URL.parse(input)
  if (url === null || url.username + url.password + url.hash !== '' || url.hostname === '') return undefined
  if (url.protocol === 'https:' || url.protocol === 'http:') return url.href
  const isSyslog = url.protocol === 'syslog+tls:' || url.protocol === 'syslog+tcp:'
  return isSyslog && url.port !== '' && /^\/?$/.test(url.pathname) && url.search === '' ? input : undefined
}

/** What leaves the cluster for those who watch it. */
export const observeOptions = {
  auditStream: {
    variable: 'QUOIN_AUDIT_STREAM',
    fallback: '',
    help: 'Receiver of the audit log, record by record: syslog (RFC 5424), or NDJSON by HTTP. Empty: none.',
    accepts: 'empty, or syslog+tls://host:6514, syslog+tcp://host:601, https://host/path, http://host/path',
    read: streamAddress,
  },
  auditStreamToken: {
    variable: 'QUOIN_AUDIT_STREAM_TOKEN',
    fallback: '',
    help: 'Token for QUOIN_AUDIT_STREAM by HTTP, sent as Authorization: Bearer.',
    secret: true,
    ...text,
  },
} as const satisfies OptionGroup

export function readObserveOptions(read: ReadOne): ReadGroup<typeof observeOptions> {
  return {
    auditStream: read(observeOptions.auditStream),
    auditStreamToken: read(observeOptions.auditStreamToken),
  }
}
