import { choice, number, type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

/** Where the audit log is sent. The password goes into a setting of its own, so that the address may be shown. */
function streamAddress(input: string): string | undefined {
  if (input === '') return ''
  const url = URL.parse(input)
  if (url === null || url.username + url.password + url.hash !== '' || url.hostname === '') return undefined
  if (url.protocol === 'https:' || url.protocol === 'http:') return url.href
  if (url.protocol === 'otlp+https:' || url.protocol === 'otlp+http:') return input
  const isSyslog = url.protocol === 'syslog+tls:' || url.protocol === 'syslog+tcp:'
  return isSyslog && url.port !== '' && /^\/?$/.test(url.pathname) && url.search === '' ? input : undefined
}

/** Without a slash at its end. */
function collectorAddress(input: string): string | undefined {
  if (input === '') return ''
  const url = URL.parse(input)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') return undefined
  return url.search + url.hash === '' ? url.href.replace(/\/$/, '') : undefined
}

/** `name=value` pairs, as in a query. */
function headerPairs(input: string): Readonly<Record<string, string>> | undefined {
  const pairs = input.split(',').flatMap((pair) => (pair.trim() === '' ? [] : [pair.split('=', 2)]))
  const headers = pairs.map(([name = '', value]) => [
    name.trim(),
    value === undefined ? '' : decoded(value.trim()),
  ])
  const fits = headers.every(([name = '', value = '']) => /^[\w-]+$/.test(name) && /^[ -~]+$/.test(value))
  return fits ? Object.fromEntries(headers) : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** What leaves the cluster for those who watch it. */
export const observeOptions = {
  auditStream: {
    variable: 'QUOIN_AUDIT_STREAM',
    fallback: '',
    help: 'Receiver of the audit log, record by record: syslog (RFC 5424), NDJSON by HTTP, or logs by OTLP (JSON). Empty: none.',
    accepts:
      'empty, or syslog+tls://host:6514, syslog+tcp://host:601, https://host/path, http://host/path, otlp+https://host:4318, otlp+http://host:4318',
    read: streamAddress,
  },
  auditSignedSince: {
    variable: 'QUOIN_AUDIT_SIGNED_SINCE',
    fallback: '',
    help: 'First day (UTC) at whose end the audit log was signed. quoin audit verify then names each later day without a signature, and a log that begins later. Empty: with a key for secrets, every day has to be signed.',
    accepts: 'empty, or a day such as 2026-11-30',
    read: (input: string) => {
      if (input === '') return 0
      const at = /^\d{4}-\d\d-\d\d$/.test(input) ? Date.parse(input) : Number.NaN
      return at > 0 ? at : undefined
    },
  },
  auditStreamToken: {
    variable: 'QUOIN_AUDIT_STREAM_TOKEN',
    fallback: '',
    help: 'Token for QUOIN_AUDIT_STREAM by HTTP or OTLP, sent as Authorization: Bearer.',
    secret: true,
    ...text,
  },
  otlpEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: '',
    help: 'Collector of OpenTelemetry that gets traces, metrics and logs, by OTLP over HTTP (JSON) at /v1/traces, /v1/metrics and /v1/logs. Empty: none.',
    accepts: 'empty, or an address such as http://127.0.0.1:4318',
    read: collectorAddress,
  },
  otlpHeaders: {
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: '',
    help: 'Headers for the collector.',
    accepts: 'name=value pairs separated by commas, values encoded as in addresses',
    secret: true,
    read: headerPairs,
  },
  otlpService: {
    variable: 'OTEL_SERVICE_NAME',
    fallback: 'quoin',
    help: 'What the collector calls this cluster.',
    ...text,
  },
  otlpShare: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '0.01',
    help: 'Share of requests, jobs and ticks that are traced, at most 100 a second and node. A request with the header traceparent brings the decision along.',
    accepts: 'a number from 0 to 1',
    read: (input: string) => (/^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/.test(input) ? Number(input) : undefined),
  },
  otlpMetrics: {
    variable: 'OTEL_METRICS_EXPORTER',
    fallback: 'otlp',
    help: 'Whether the collector gets metrics.',
    ...choice('otlp', 'none'),
  },
  otlpMetricsEvery: {
    variable: 'OTEL_METRIC_EXPORT_INTERVAL',
    fallback: '60000',
    help: 'Milliseconds between two readings of the metrics for the collector.',
    ...number(1_000, 3_600_000),
  },
  otlpLogs: {
    variable: 'OTEL_LOGS_EXPORTER',
    fallback: 'otlp',
    help: 'Whether the collector gets the system log.',
    ...choice('otlp', 'none'),
  },
} as const satisfies OptionGroup

export function readObserveOptions(read: ReadOne): ReadGroup<typeof observeOptions> {
  return {
    auditStream: read(observeOptions.auditStream),
    auditSignedSince: read(observeOptions.auditSignedSince),
    auditStreamToken: read(observeOptions.auditStreamToken),
    otlpEndpoint: read(observeOptions.otlpEndpoint),
    otlpHeaders: read(observeOptions.otlpHeaders),
    otlpService: read(observeOptions.otlpService),
    otlpShare: read(observeOptions.otlpShare),
    otlpMetrics: read(observeOptions.otlpMetrics),
    otlpMetricsEvery: read(observeOptions.otlpMetricsEvery),
    otlpLogs: read(observeOptions.otlpLogs),
  }
}
