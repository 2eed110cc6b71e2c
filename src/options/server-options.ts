import { allowedHostProblem } from '../blocks/http/allowed-hosts.ts'
import { APPLICATION_NAME } from '../shared/application/application.ts'
import {
  accepted,
  choice,
  flag,
  list,
  number,
  type OptionGroup,
  type ReadGroup,
  type ReadOne,
  text,
} from './option-kinds.ts'

const isApplicationName = new RegExp(APPLICATION_NAME)

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
  blocks: {
    variable: 'QUOIN_BLOCKS',
    fallback: '',
    help: 'Folder of extensions: each folder in it, or package of npm, whose package.json has the key quoin. Administrators switch them on (docs/extensions.md). Empty: none.',
    ...text,
  },
  logLevel: {
    variable: 'QUOIN_LOG_LEVEL',
    fallback: 'info',
    help: 'Lowest level that is written to standard output.',
    changeable: true,
    ...choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  spacesOpen: {
    variable: 'QUOIN_SPACES_OPEN',
    fallback: '',
    help: 'Spaces that a node has open at the same time (docs/spaces.md): each takes about 8 MB, and up to 6 connections to PostgreSQL. Others are opened with their first request. Empty: 50, and 10 with PostgreSQL.',
    accepts: 'empty, or a whole number from 1 to 10000',
    read: (text: string) => (text === '' ? 'unset' : number(1, 10_000).read(text)),
  },
  metricsToken: {
    variable: 'QUOIN_METRICS_TOKEN',
    fallback: '',
    help: 'Secret of the metrics collector, sent as a bearer token.',
    accepts: 'empty, or at least 16 characters without spaces',
    secret: true,
    read: (input: string) => (input === '' || /^\S{16,}$/.test(input) ? input : undefined),
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
    blocks: read(serverOptions.blocks),
    logLevel: read(serverOptions.logLevel),
    spacesOpen: read(serverOptions.spacesOpen),
    metricsToken: read(serverOptions.metricsToken),
    watchdog: read(serverOptions.watchdog),
  }
}

/** Which other hosts are trusted, answered and called. */
export const networkOptions = {
  corsOrigins: {
    variable: 'QUOIN_CORS_ORIGINS',
    fallback: '',
    help: 'Origins whose pages may call the API, separated by commas; * for all.',
    ...list,
  },
  trustProxy: {
    variable: 'QUOIN_TRUST_PROXY',
    fallback: '',
    help: 'Addresses of your reverse proxies, separated by commas; their x-forwarded-for is trusted.',
    ...list,
  },
  pushApproval: {
    variable: 'QUOIN_PUSH_APPROVAL',
    fallback: '',
    help: 'Applications whose pushes wait until a second user has approved them: names separated by commas, or * for all.',
    changeable: true,
    ofSpace: true,
    accepts: 'names of applications separated by commas, or *',
    read: (text: string) => {
      const names = list.read(text)
      return names.every((name) => name === '*' || isApplicationName.test(name)) ? names : undefined
    },
  },
  allowedHosts: {
    variable: 'QUOIN_ALLOWED_HOSTS',
    fallback: '',
    help: 'Private hosts that flows and alerts may call: names, host:port or networks, separated by commas.',
    changeable: true,
    scope: 'settings_network',
    accepts: 'a list of host names, host:port or networks such as 10.0.0.0/8, separated by commas',
    read: (text: string) => {
      const hosts = list.read(text)
      return hosts.every((host) => allowedHostProblem(host) === undefined) ? hosts : undefined
    },
  },
} as const satisfies OptionGroup

export function readNetworkOptions(read: ReadOne): ReadGroup<typeof networkOptions> {
  return {
    corsOrigins: read(networkOptions.corsOrigins),
    trustProxy: read(networkOptions.trustProxy),
    pushApproval: read(networkOptions.pushApproval),
    allowedHosts: read(networkOptions.allowedHosts),
  }
}

/** What expressions take where they are told neither time zone nor locale. */
export const localeOptions = {
  timeZone: {
    variable: 'QUOIN_TIME_ZONE',
    fallback: 'UTC',
    help: 'Time zone of the times that forms, tables, mails and CSV files show and take, and of functions in expressions that get none. A user with a time zone other than UTC has that one on pages. All nodes need the same.',
    accepts: 'a time zone such as Europe/Berlin',
    read: (input: string) => accepted(input, () => new Intl.DateTimeFormat('en', { timeZone: input })),
  },
  locale: {
    variable: 'QUOIN_LOCALE',
    fallback: 'en-US',
    help: 'Locale of functions in expressions that get none. All nodes need the same.',
    accepts: 'a language tag such as en-US',
    read: (input: string) => accepted(input, () => new Intl.Locale(input)),
  },
} as const satisfies OptionGroup

export function readLocaleOptions(read: ReadOne): ReadGroup<typeof localeOptions> {
  return {
    timeZone: read(localeOptions.timeZone),
    locale: read(localeOptions.locale),
  }
}
