import { choice, flag, number, type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

const environments = ['development', 'production'] as const

/** Where a process listens, what it is called, and how it runs. */
export const serverOptions = {
  port: {
    variable: 'QUOIN_PORT',
    fallback: '8080',
    help: 'Port to listen on; 0 takes any free one.',
    ...number(0, 65_535),
  },
  host: {
    variable: 'QUOIN_HOST',
    fallback: '127.0.0.1',
    help: 'Address to listen on; 0.0.0.0 for all.',
    ...text,
  },
  node: {
    variable: 'QUOIN_NODE',
    fallback: '',
    help: 'Name of this node in lists of nodes and in /info. Empty: the name of the host.',
    ...text,
  },
  environment: {
    variable: 'QUOIN_ENVIRONMENT',
    fallback: '',
    help: 'In development, requests from this machine have no rate limit and may read /metrics. Empty: development if QUOIN_HOST is an address of this machine only and QUOIN_TRUST_PROXY is empty, else production.',
    accepts: 'empty, development or production',
    read: (text: string) => (text === '' ? 'unset' : environments.find((one) => one === text)),
  },
  examples: {
    variable: 'QUOIN_EXAMPLES',
    fallback: '',
    help: 'Install the tasks example, whose list is public, on the first start. Empty: in development only.',
    accepts: 'empty, 0 or 1',
    read: (text: string) => (text === '' ? 'unset' : flag.read(text)),
  },
  logLevel: {
    variable: 'QUOIN_LOG_LEVEL',
    fallback: 'info',
    help: 'Lowest level that is written to standard output.',
    changeable: true,
    ...choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  metricsToken: {
    variable: 'QUOIN_METRICS_TOKEN',
    fallback: '',
    help: 'Secret of the metrics collector, sent as a bearer token.',
    accepts: 'empty, or at least 16 characters without spaces',
    secret: true,
    read: (given: string) => (given === '' || /^\S{16,}$/.test(given) ? given : undefined),
  },
  watchdog: {
    variable: 'QUOIN_WATCHDOG',
    fallback: '10',
    help: 'Seconds without a turn of the event loop after which the process ends with code 70, so that it is restarted. 0: never.',
    ...number(0, 3600),
  },
} as const satisfies OptionGroup

export function readServerOptions(read: ReadOne): ReadGroup<typeof serverOptions> {
  return {
    port: read(serverOptions.port),
    host: read(serverOptions.host),
    node: read(serverOptions.node),
    environment: read(serverOptions.environment),
    examples: read(serverOptions.examples),
    logLevel: read(serverOptions.logLevel),
    metricsToken: read(serverOptions.metricsToken),
    watchdog: read(serverOptions.watchdog),
  }
}
