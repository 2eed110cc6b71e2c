import { allowedHostProblem } from '../blocks/http/allowed-hosts.ts'
import { APPLICATION_NAME } from '../shared/application/application.ts'
import { isOneLine } from '../shared/texts/one-line.ts'
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

const money = {
  accepts: 'empty, or an amount such as 20 or 2.50',
  read: (input: string) => (input === '' ? 'none' : amount(input)),
} as const

function amount(input: string): number | undefined {
  return /^\d{1,9}(?:\.\d{1,6})?$/.test(input) ? Number(input) : undefined
}

/** Without a slash, so that it is part of no address. */
const isConnectionName = /^[\w-]{1,63}$/

/** The model that drafts what people describe (`agents/describe.ts`). */
export const assistantOptions = {
  assistantConnection: {
    variable: 'QUOIN_ASSISTANT_CONNECTION',
    fallback: '',
    help: 'Connection to the model that drafts what people describe in the studio: a server that speaks the OpenAI-compatible chat API. It gets their descriptions and the definitions that they may see. Empty: there is no assistant.',
    changeable: true,
    ofSpace: true,
    scope: 'connections_update',
    accepts: 'empty, or the name of a connection',
    read: (input: string) => (input === '' || isConnectionName.test(input) ? input : undefined),
  },
  assistantModel: {
    variable: 'QUOIN_ASSISTANT_MODEL',
    fallback: 'default',
    help: 'Name of that model, as its server calls it.',
    changeable: true,
    ofSpace: true,
    accepts: 'one line of at most 200 characters',
    read: (input: string) => (input.length <= 200 && isOneLine(input) ? input : undefined),
  },
  assistantTokensPerRun: {
    variable: 'QUOIN_ASSISTANT_TOKENS_PER_RUN',
    fallback: '300000',
    help: 'Tokens, sent and received, after which one description is ended. The last request may go beyond.',
    changeable: true,
    ofSpace: true,
    ...number(1_000, 1_000_000_000),
  },
  assistantTokensPerDay: {
    variable: 'QUOIN_ASSISTANT_TOKENS_PER_DAY',
    fallback: '2000000',
    help: 'Tokens of all descriptions in a day that begins with the first one, over all nodes.',
    changeable: true,
    ofSpace: true,
    ...number(0, 1_000_000_000_000),
  },
  assistantMoneyPerDay: {
    variable: 'QUOIN_ASSISTANT_MONEY_PER_DAY',
    fallback: '',
    help: 'The same for what they cost, by QUOIN_ASSISTANT_PRICES. Empty: no limit.',
    changeable: true,
    ofSpace: true,
    ...money,
  },
  assistantPrices: {
    variable: 'QUOIN_ASSISTANT_PRICES',
    fallback: '0, 0',
    help: 'Price of a million tokens that are sent, and of a million that are received.',
    changeable: true,
    ofSpace: true,
    accepts: 'two amounts separated by a comma, such as 2.50, 10',
    read: (input: string) => {
      const [sent, received, ...more] = input.split(',').map((one) => amount(one.trim()))
      return sent === undefined || received === undefined || more.length > 0 ? undefined : { sent, received }
    },
  },
} as const satisfies OptionGroup

export function readAssistantOptions(read: ReadOne): ReadGroup<typeof assistantOptions> {
  return {
    assistantConnection: read(assistantOptions.assistantConnection),
    assistantModel: read(assistantOptions.assistantModel),
    assistantTokensPerRun: read(assistantOptions.assistantTokensPerRun),
    assistantTokensPerDay: read(assistantOptions.assistantTokensPerDay),
    assistantMoneyPerDay: read(assistantOptions.assistantMoneyPerDay),
    assistantPrices: read(assistantOptions.assistantPrices),
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
