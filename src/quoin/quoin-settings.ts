/**
 * What the rooms are told, from the settings. When an option changes, its value in these objects does: a request or run reads a
 * field, and calls nothing.
 */
import type { AccessSettings, LinkSettings } from '../access/access-context.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import type { RunLimits } from '../flows/run/run-environment.ts'
import type { StreamLimits } from '../http/live/stream-places.ts'
import type { HttpSettings } from '../http/server/http-settings.ts'
import type { Options } from '../options/options.ts'
import { type MailSettings, parseSmtpUrl } from '../records/mail/send-mail.ts'
import type { RetentionPeriods } from '../records/retention/retention.ts'
import { mailAddress } from '../shared/mail/mail.ts'
import type { PresentOptions } from './open-settings.ts'

const MAX_CALL_DEPTH = 32

/** An object that holds what `read` makes of the options, also behind each change of one of them. */
function watched<T extends object>({ present, watch }: PresentOptions, read: (options: Options) => T): T {
  const settings = read(present())
  watch(() => Object.assign(settings, read(present())))
  return settings
}

export function accessSettings(set: PresentOptions, passwordCost: PasswordCost | undefined): AccessSettings {
  return watched(set, (options) => ({
    lockoutAttempts: options.lockoutAttempts,
    lockoutSeconds: options.lockoutSeconds,
    confirmSeconds: options.confirmSeconds,
    addressAttempts: 100,
    tokenSeconds: 14 * 86_400,
    siteName: options.siteName,
    publicUrl: options.publicUrl,
    links: linkSettings(options),
    ...(passwordCost && { passwordCost }),
  }))
}

function linkSettings({
  mailUrl,
  publicUrl,
  siteName,
  signUp,
  proofAbove,
}: Options): LinkSettings | undefined {
  if (mailUrl === '' || publicUrl === '') return undefined
  return {
    publicUrl,
    siteName: siteName || new URL(publicUrl).host,
    signUp: signUp === 'off' ? undefined : signUp,
    proofAbove,
  }
}

export function runLimits(set: PresentOptions): RunLimits {
  return watched(set, ({ runDeadline, runBudget }) => ({
    deadline: runDeadline,
    budget: runBudget,
    depth: MAX_CALL_DEPTH,
  }))
}

/** The same list until another one is set: connections to other servers are kept by it. */
export function allowedHosts({ present }: PresentOptions): () => readonly string[] {
  let hosts = present().allowedHosts
  return () => {
    const now = present().allowedHosts
    if (now.join() !== hosts.join()) hosts = now
    return hosts
  }
}

export function streamLimits(set: PresentOptions): StreamLimits {
  return watched(set, ({ streams, streamsPerAddress, streamsPerUser }) => ({
    all: streams,
    ofAddress: streamsPerAddress,
    ofUser: streamsPerUser,
  }))
}

const DAY = 86_400

export function retainedFor({ present }: PresentOptions): RetentionPeriods {
  const { keepLogs, keepRuns, keepHistory, keepRemoved } = present()
  return {
    logs: keepLogs * DAY,
    runs: keepRuns * 3600,
    history: keepHistory * DAY,
    removed: keepRemoved * DAY,
  }
}

/** Where mail goes, and from whom. */
export function mailSettings({ present }: PresentOptions): MailSettings {
  const { mailUrl } = present()
  return {
    server: mailUrl === '' ? undefined : parseSmtpUrl(mailUrl),
    get from() {
      return mailAddress(present().mailFrom)
    },
  }
}

export function httpSettings(set: PresentOptions): HttpSettings {
  return watched(set, (options) => ({
    host: options.host,
    port: options.port,
    bodyLimit: options.bodyLimit,
    corsOrigins: options.corsOrigins,
    rateLimit: options.rateLimit,
    connections: options.connections,
    waitingBytes: options.replyMemory * 1024 * 1024,
    environment: options.environment,
    trustProxy: options.trustProxy.length > 0 ? options.trustProxy : false,
    logLevel: options.logLevel,
    watch: set.watch,
  }))
}

/** Of the model that drafts what people describe. */
export function assistantSettings(options: Options) {
  const { assistantMoneyPerDay: money } = options
  return {
    connection: options.assistantConnection,
    model: options.assistantModel,
    tokensPerRun: options.assistantTokensPerRun,
    tokensPerDay: options.assistantTokensPerDay,
    moneyPerDay: typeof money === 'number' ? money : undefined,
    prices: options.assistantPrices,
  }
}
