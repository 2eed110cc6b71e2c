import { isAbsolute } from 'node:path'
import { allowedHostProblem } from './blocks/http/allowed-hosts.ts'
import {
  accepted,
  choice,
  flag,
  list,
  number,
  type Option,
  OptionError,
  postgresUrl,
  readOption,
  text,
} from './option-kinds.ts'
import { parseSmtpUrl } from './records/mail/smtp-url.ts'
import { readSecretKey } from './records/secrets/secret-keys.ts'
import { mailAddress } from './shared/mail/mail-address.ts'
import { wordsLike } from './shared/similar-word.ts'
import { parseBucketUrl } from './storage/assets/bucket-url.ts'

const environments = ['development', 'production'] as const

/** Without a slash at its end; undefined for what is no address of a whole site. */
function siteAddress(given: string): string | undefined {
  const url = URL.parse(given)
  const whole =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search + url.hash === ''
  return whole && url.username + url.password === '' ? url.origin : undefined
}

/** `off`, or the groups of users who sign up: none for `on`. */
function signUpGroups(given: string): 'off' | readonly string[] | undefined {
  if (given === 'off') return 'off'
  const groups = given === 'on' ? [] : list.read(given)
  return groups.length <= 20 ? groups : undefined
}

function isBucketUrl(given: string): boolean {
  try {
    parseBucketUrl(given)
    return true
  } catch {
    return false
  }
}

/**
 * Every setting, once. `quoin start --help` and the start itself come from this table, and nothing else looks at the
 * environment.
 */
export const optionTable = {
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
  data: { variable: 'QUOIN_DATA', fallback: './data', help: 'Folder of the embedded database.', ...text },
  workers: {
    variable: 'QUOIN_WORKERS',
    fallback: '1',
    help: 'Processes on the embedded database: one writes, all serve reads. At most about the number of cores.',
    ...number(1, 64),
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    fallback: '',
    help: 'PostgreSQL 15 to 18, for any number of nodes. Empty: the embedded database.',
    ...postgresUrl,
  },
  listenUrl: {
    variable: 'QUOIN_LISTEN_URL',
    fallback: '',
    help: 'Direct address of the same database, past a pooler such as PgBouncer, for messages between nodes. Empty: DATABASE_URL.',
    ...postgresUrl,
  },
  pool: {
    variable: 'QUOIN_POOL',
    fallback: '10',
    help: 'Maximum connections of a node to PostgreSQL, besides one for messages and one for its lease.',
    ...number(2, 1000),
  },
  assetsUrl: {
    variable: 'QUOIN_ASSETS_URL',
    fallback: '',
    help: 'Bucket for uploaded files, required for uploads with PostgreSQL. Credentials come from AWS_ACCESS_KEY_ID and the other AWS variables. Empty: the data folder.',
    accepts: 'empty, or s3://bucket/prefix?endpoint=…&region=…',
    secret: true,
    read: (given: string) => (given === '' || isBucketUrl(given) ? given : undefined),
  },
  node: {
    variable: 'QUOIN_NODE',
    fallback: '',
    help: 'Name of this node in lists of nodes and in /info. Empty: the name of the host.',
    ...text,
  },
  adminPassword: {
    variable: 'QUOIN_ADMIN_PASSWORD',
    fallback: '',
    help: 'Password of the first administrator, at least 10 characters, not a common one. Empty: a random one, printed once.',
    ...text,
  },
  examples: {
    variable: 'QUOIN_EXAMPLES',
    fallback: '',
    help: 'Install the tasks example, whose list is public, on the first start. Empty: in development only.',
    accepts: 'empty, 0 or 1',
    read: (text: string) => (text === '' ? 'unset' : flag.read(text)),
  },
  environment: {
    variable: 'QUOIN_ENVIRONMENT',
    fallback: '',
    help: 'In development, requests from this machine have no rate limit and may read /metrics. Empty: development if QUOIN_HOST is an address of this machine only and QUOIN_TRUST_PROXY is empty, else production.',
    accepts: 'empty, development or production',
    read: (text: string) => (text === '' ? 'unset' : environments.find((one) => one === text)),
  },
  logLevel: {
    variable: 'QUOIN_LOG_LEVEL',
    fallback: 'info',
    help: 'Lowest level that is written to standard output.',
    ...choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  bodyLimit: {
    variable: 'QUOIN_BODY_LIMIT',
    fallback: '1048576',
    help: 'Maximum bytes of a JSON or form body.',
    ...number(1024, 104_857_600),
  },
  rateLimit: {
    variable: 'QUOIN_RATE_LIMIT',
    fallback: '100',
    help: 'Requests a second from one address to public routes and endpoints; 0 = no limit.',
    ...number(0, 1_000_000),
  },
  connections: {
    variable: 'QUOIN_CONNECTIONS',
    fallback: '256',
    help: 'Simultaneous connections from one address; further ones are closed. This machine and QUOIN_TRUST_PROXY are not counted; 0 = no limit.',
    ...number(0, 1_000_000),
  },
  streams: {
    variable: 'QUOIN_STREAMS',
    fallback: '2000',
    help: 'Event streams of endpoints that may be open on a node; further ones get 503; 0 = no limit.',
    ...number(0, 1_000_000),
  },
  streamsPerAddress: {
    variable: 'QUOIN_STREAMS_PER_ADDRESS',
    fallback: '50',
    help: 'Event streams that one address may have open on a node; further ones get 429; 0 = no limit.',
    ...number(0, 1_000_000),
  },
  streamsPerUser: {
    variable: 'QUOIN_STREAMS_PER_USER',
    fallback: '20',
    help: 'Event streams that one user may have open on a node; further ones get 429; 0 = no limit.',
    ...number(0, 1_000_000),
  },
  replyMemory: {
    variable: 'QUOIN_REPLY_MEMORY',
    fallback: '128',
    help: 'MiB of replies that may wait for clients to read them, in each process; beyond that 503; 0 = no limit.',
    ...number(0, 1_048_576),
  },
  mailUrl: {
    variable: 'QUOIN_MAIL_URL',
    fallback: '',
    help: 'SMTP server that mail is handed over to. With a password TLS is required. Empty: mail waits in its queue and fails.',
    accepts: 'empty, or smtp://user:password@host:port or smtps://…, with ?tls=required or ?tls=off',
    secret: true,
    read: (given: string) => (given === '' ? '' : accepted(given, () => parseSmtpUrl(given))),
  },
  mailFrom: {
    variable: 'QUOIN_MAIL_FROM',
    fallback: '',
    help: 'Sender of mail where a block names none; required with QUOIN_MAIL_URL.',
    accepts: 'empty, or an address such as Shop <shop@example.com>',
    read: (given: string) => (given === '' || mailAddress(given) !== undefined ? given : undefined),
  },
  publicUrl: {
    variable: 'QUOIN_PUBLIC_URL',
    fallback: '',
    help: 'Address at which users reach Quoin, for links in mail and of waits. Empty: no password reset, invitation or sign-up by mail.',
    accepts: 'empty, or an address such as https://shop.example.com',
    read: (given: string) => (given === '' ? '' : siteAddress(given)),
  },
  signUp: {
    variable: 'QUOIN_SIGN_UP',
    fallback: 'off',
    help: 'Who may create an account at /login/new: off; on; or names of authentication groups that each new user joins.',
    accepts: 'off, on, or names of groups separated by commas',
    read: (given: string) => signUpGroups(given),
  },
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
  allowedHosts: {
    variable: 'QUOIN_ALLOWED_HOSTS',
    fallback: '',
    help: 'Private hosts that the http request block may call: names, host:port or networks, separated by commas.',
    accepts: 'a list of host names, host:port or networks such as 10.0.0.0/8, separated by commas',
    read: (text: string) => {
      const hosts = list.read(text)
      return hosts.every((host) => allowedHostProblem(host) === undefined) ? hosts : undefined
    },
  },
  runDeadline: {
    variable: 'QUOIN_RUN_DEADLINE',
    fallback: '30000',
    help: 'Milliseconds after which a run is stopped.',
    ...number(10, 3_600_000),
  },
  runBudget: {
    variable: 'QUOIN_RUN_BUDGET',
    fallback: '1000000',
    help: 'Blocks that one run may execute.',
    ...number(100, 1_000_000_000),
  },
  acceptLoss: {
    variable: 'QUOIN_ACCEPT_LOSS',
    fallback: '0',
    help: 'Start although a file of the embedded database is damaged and recent writes may be lost. Set it for one start, after copying the folder.',
    ...flag,
  },
  watchdog: {
    variable: 'QUOIN_WATCHDOG',
    fallback: '10',
    help: 'Seconds without a turn of the event loop after which the process ends with code 70, so that it is restarted. 0: never.',
    ...number(0, 3600),
  },
  lockoutAttempts: {
    variable: 'QUOIN_LOCKOUT_ATTEMPTS',
    fallback: '10',
    help: 'Failed sign-ins in a row from one network that lock a user for that network; ten times as many from unknown networks lock all of them.',
    ...number(1, 1000),
  },
  lockoutSeconds: {
    variable: 'QUOIN_LOCKOUT_SECONDS',
    fallback: '900',
    help: 'Seconds for which a user stays locked.',
    ...number(1, 31_536_000),
  },
  token: {
    variable: 'QUOIN_TOKEN',
    fallback: '',
    help: 'Access token for commands with --url, instead of quoin login.',
    ...text,
  },
  configHome: {
    variable: 'XDG_CONFIG_HOME',
    fallback: '',
    help: 'Folder of your settings, where quoin login stores access tokens. Empty or relative: .config in the home directory.',
    accepts: 'text',
    read: (given: string) => (isAbsolute(given) ? given : ''),
  },
  metricsToken: {
    variable: 'QUOIN_METRICS_TOKEN',
    fallback: '',
    help: 'Secret of the metrics collector, sent as a bearer token.',
    accepts: 'empty, or at least 16 characters without spaces',
    secret: true,
    read: (given: string) => (given === '' || /^\S{16,}$/.test(given) ? given : undefined),
  },
  timeZone: {
    variable: 'QUOIN_TIME_ZONE',
    fallback: 'UTC',
    help: 'Time zone of functions in expressions that get none. All nodes need the same.',
    accepts: 'a time zone such as Europe/Berlin',
    read: (given: string) => accepted(given, () => new Intl.DateTimeFormat('en', { timeZone: given })),
  },
  locale: {
    variable: 'QUOIN_LOCALE',
    fallback: 'en-US',
    help: 'Locale of functions in expressions that get none. All nodes need the same.',
    accepts: 'a language tag such as en-US',
    read: (given: string) => accepted(given, () => new Intl.Locale(given)),
  },
  secretsKey: {
    variable: 'QUOIN_SECRETS_KEY',
    fallback: '',
    help: 'Key that encrypts secrets, the same on all nodes. Make one with: openssl rand -base64 32. Empty: no secrets.',
    accepts: 'empty, or 32 bytes as base64 or hexadecimal digits',
    secret: true,
    read: (given: string) => (given === '' || readSecretKey(given) ? given : undefined),
  },
  secretsOldKeys: {
    variable: 'QUOIN_SECRETS_OLD_KEYS',
    fallback: '',
    help: 'Further keys that only decrypt secrets, separated by commas, until quoin secret rotate has run.',
    accepts: 'a list of keys as for QUOIN_SECRETS_KEY, separated by commas',
    secret: true,
    read: (given: string) => {
      const keys = list.read(given)
      return keys.every((key) => readSecretKey(key)) ? keys : undefined
    },
  },
  entity: {
    variable: 'QUOIN_ENTITY',
    fallback: '1',
    help: 'Cluster number, in every record.',
    ...number(1, 2_147_483_647),
  },
} as const satisfies Record<string, Option<unknown>>

type ReadOptions = {
  readonly [K in keyof typeof optionTable]: NonNullable<ReturnType<(typeof optionTable)[K]['read']>>
}

/** Where a default follows from other settings it has been worked out. */
export type Options = {
  readonly [K in keyof ReadOptions]: Exclude<ReadOptions[K], 'unset'>
}

/** The settings from the environment. Throws OptionError for the first that is not accepted. */
export function readOptions(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Options {
  refuseUnknown(Object.keys(environment))
  const read = <T>(option: Option<T>) => readOption(option, environment)
  const host = read(optionTable.host)
  const trustProxy = read(optionTable.trustProxy)
  const reached = isThisMachine(host) && trustProxy.length === 0 ? 'development' : 'production'
  const mode = orElse(read(optionTable.environment), reached)
  const options: Options = {
    port: read(optionTable.port),
    host,
    data: read(optionTable.data),
    workers: read(optionTable.workers),
    databaseUrl: read(optionTable.databaseUrl),
    listenUrl: read(optionTable.listenUrl),
    pool: read(optionTable.pool),
    assetsUrl: read(optionTable.assetsUrl),
    node: read(optionTable.node),
    adminPassword: read(optionTable.adminPassword),
    examples: orElse(read(optionTable.examples), mode === 'development'),
    environment: mode,
    logLevel: read(optionTable.logLevel),
    bodyLimit: read(optionTable.bodyLimit),
    rateLimit: read(optionTable.rateLimit),
    connections: read(optionTable.connections),
    streams: read(optionTable.streams),
    streamsPerAddress: read(optionTable.streamsPerAddress),
    streamsPerUser: read(optionTable.streamsPerUser),
    replyMemory: read(optionTable.replyMemory),
    mailUrl: read(optionTable.mailUrl),
    mailFrom: read(optionTable.mailFrom),
    publicUrl: read(optionTable.publicUrl),
    signUp: read(optionTable.signUp),
    corsOrigins: read(optionTable.corsOrigins),
    trustProxy,
    allowedHosts: read(optionTable.allowedHosts),
    runDeadline: read(optionTable.runDeadline),
    runBudget: read(optionTable.runBudget),
    acceptLoss: read(optionTable.acceptLoss),
    watchdog: read(optionTable.watchdog),
    lockoutAttempts: read(optionTable.lockoutAttempts),
    lockoutSeconds: read(optionTable.lockoutSeconds),
    token: read(optionTable.token),
    configHome: read(optionTable.configHome),
    metricsToken: read(optionTable.metricsToken),
    timeZone: read(optionTable.timeZone),
    locale: read(optionTable.locale),
    secretsKey: read(optionTable.secretsKey),
    secretsOldKeys: read(optionTable.secretsOldKeys),
    entity: read(optionTable.entity),
  }
  if (options.workers > 1 && options.databaseUrl !== '')
    throw new OptionError(
      'QUOIN_WORKERS is for the embedded database; with DATABASE_URL set, start more nodes instead.',
    )
  if (options.mailUrl !== '' && options.mailFrom === '')
    throw new OptionError('QUOIN_MAIL_URL is set without QUOIN_MAIL_FROM; set the sender of mail too.')
  if (options.signUp !== 'off' && (options.mailUrl === '' || options.publicUrl === ''))
    throw new OptionError(
      'QUOIN_SIGN_UP is set without QUOIN_MAIL_URL or QUOIN_PUBLIC_URL; users confirm their address by a link in a mail.',
    )
  return options
}

function orElse<T>(value: T | 'unset', fallback: T): T {
  return value === 'unset' ? fallback : value
}

/** Whether only programs of this machine reach the address. */
function isThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
}

/** A name that is misspelled would otherwise be a setting that quietly keeps its default. */
function refuseUnknown(names: readonly string[]): void {
  const known: string[] = Object.values(optionTable).map(({ variable }) => variable)
  const unknown = names.find((name) => name.startsWith('QUOIN_') && !known.includes(name))
  if (unknown === undefined) return
  const [nearest] = [1, 2, 3].flatMap((distance) => known.filter(wordsLike(unknown, distance)))
  const meant = nearest === undefined ? 'quoin start --help lists all settings' : `did you mean ${nearest}?`
  throw new OptionError(`${unknown} is not a setting: ${meant}`)
}

/** One entry per setting, for `--help`. */
export function optionsHelp(): string {
  return Object.values(optionTable)
    .map(({ variable, help, fallback, accepts }) => {
      const standard = fallback === '' ? 'empty' : fallback
      return `  ${variable}\n      ${help}\n      ${accepts}; default ${standard}`
    })
    .join('\n')
}
