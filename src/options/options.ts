import { wordsLike } from '../shared/names/similar-word.ts'
import { accountOptions, readAccountOptions, readSecretOptions, secretOptions } from './account-options.ts'
import { commandOptions, readCommandOptions } from './command-options.ts'
import {
  backupOptions,
  databaseOptions,
  readBackupOptions,
  readDatabaseOptions,
  readRetentionOptions,
  retentionOptions,
} from './database-options.ts'
import { limitOptions, readLimitOptions } from './limit-options.ts'
import { mailOptions, readMailOptions } from './mail-options.ts'
import { observeOptions, readObserveOptions } from './observe-options.ts'
import { type Option, OptionError, readOption } from './option-kinds.ts'
import {
  assistantOptions,
  localeOptions,
  networkOptions,
  readAssistantOptions,
  readLocaleOptions,
  readNetworkOptions,
  readServerOptions,
  serverOptions,
} from './server-options.ts'

/**
 * Every setting, once, from the files of its group. `quoin start --help` and the start itself come from this table, and
 * nothing else looks at the environment.
 */
export const optionTable = {
  ...serverOptions,
  ...databaseOptions,
  ...backupOptions,
  ...limitOptions,
  ...retentionOptions,
  ...mailOptions,
  ...observeOptions,
  ...networkOptions,
  ...assistantOptions,
  ...accountOptions,
  ...secretOptions,
  ...localeOptions,
  ...commandOptions,
} as const satisfies Record<string, Option<unknown>>

type ReadOptions = {
  readonly [K in keyof typeof optionTable]: NonNullable<ReturnType<(typeof optionTable)[K]['read']>>
}

/** Where a default follows from other settings it has been worked out. */
export type Options = {
  readonly [K in keyof ReadOptions]: Exclude<ReadOptions[K], 'unset'>
} & {
  /** By its variable the text of each option that the environment sets; empty for a secret. */
  readonly texts: Readonly<Record<string, string>>
}

/** The settings from the environment. Throws OptionError for the first that is not accepted. */
export function readOptions(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Options {
  refuseWorkers(environment[WORKERS])
  refuseUnknown(Object.keys(environment).filter((name) => name !== WORKERS))
  const read = <T>(option: Option<T>) => readOption(option, environment)
  const input = {
    ...readServerOptions(read),
    ...readDatabaseOptions(read),
    ...readBackupOptions(read),
    ...readLimitOptions(read),
    ...readRetentionOptions(read),
    ...readMailOptions(read),
    ...readObserveOptions(read),
    ...readNetworkOptions(read),
    ...readAssistantOptions(read),
    ...readAccountOptions(read),
    ...readSecretOptions(read),
    ...readLocaleOptions(read),
    ...readCommandOptions(read),
  }
  const reached = isThisMachine(input.host) && input.trustProxy.length === 0 ? 'development' : 'production'
  const mode = orElse(input.environment, reached)
  const options: Options = {
    ...input,
    environment: mode,
    examples: orElse(input.examples, mode === 'development'),
    // Where only this machine reaches a cluster, no session of a working day is asked again.
    confirmSeconds: orElse(input.confirmSeconds, mode === 'production' ? 300 : 43_200),
    spacesOpen: orElse(input.spacesOpen, input.databaseUrl === '' ? 50 : 10),
    texts: inputTexts(environment),
  }
  if (options.signUp !== 'off' && (options.mailUrl === '' || options.publicUrl === ''))
    throw new OptionError(
      'QUOIN_SIGN_UP is set without QUOIN_MAIL_URL or QUOIN_PUBLIC_URL; users confirm their address by a link in a mail.',
    )
  return options
}

function inputTexts(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.values<Option<unknown>>(optionTable).flatMap(({ variable, secret }) => {
      const text = environment[variable] ?? ''
      return text === '' ? [] : [[variable, secret ? '' : text.trim()]]
    }),
  )
}

function orElse<T>(value: T | 'unset', fallback: T): T {
  return value === 'unset' ? fallback : value
}

/** Whether only programs of this machine reach the address. */
function isThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
}

/** Was the number of processes on the embedded database. Its default, 1, may still be in an environment. */
const WORKERS = 'QUOIN_WORKERS'

function refuseWorkers(text = ''): void {
  if (['', '1'].includes(text.trim())) return
  throw new OptionError(
    `${WORKERS} is no longer a setting: to use more cores, store in PostgreSQL (DATABASE_URL) and start one node for each core.`,
  )
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
