/** What the rooms are told, from the settings: the same for each process of a node. */
import type { AccessSettings, LinkSettings } from '../access/access-context.ts'
import type { RunLimits } from '../flows/run/run-environment.ts'
import type { HttpSettings } from '../http/server/http-settings.ts'
import type { Options } from '../options.ts'
import type { MailSettings } from '../records/mail/send-mail.ts'
import { parseSmtpUrl } from '../records/mail/smtp-url.ts'
import { mailAddress } from '../shared/mail/mail-address.ts'

const MAX_CALL_DEPTH = 32

export function accessSettings(options: Options): AccessSettings {
  return {
    lockoutAttempts: options.lockoutAttempts,
    lockoutSeconds: options.lockoutSeconds,
    addressAttempts: 100,
    tokenSeconds: 14 * 86_400,
    links: linkSettings(options),
  }
}

function linkSettings({ mailUrl, publicUrl, signUp }: Options): LinkSettings | undefined {
  if (mailUrl === '' || publicUrl === '') return undefined
  return { publicUrl, signUp: signUp === 'off' ? undefined : signUp }
}

export function runLimits(options: Options): RunLimits {
  return { deadline: options.runDeadline, budget: options.runBudget, depth: MAX_CALL_DEPTH }
}

/** Where mail goes. Its own options were checked when they were read. */
export function mailSettings({ mailUrl, mailFrom }: Options): MailSettings {
  const server = mailUrl === '' ? undefined : parseSmtpUrl(mailUrl)
  return { server, from: mailAddress(mailFrom) ?? { name: '', address: '' } }
}

export function httpSettings(options: Options): HttpSettings {
  return {
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
  }
}
