/**
 * What the rooms are told, from the settings: the same for each process of a node. A getter is read again by each request
 * or run, as the option may change.
 */
import type { AccessSettings, LinkSettings } from '../access/access-context.ts'
import type { PasswordCost } from '../access/password-hash.ts'
import type { RunLimits } from '../flows/run/run-environment.ts'
import type { StreamLimits } from '../http/live/stream-places.ts'
import type { HttpSettings } from '../http/server/http-settings.ts'
import type { Options } from '../options/options.ts'
import type { MailSettings } from '../records/mail/send-mail.ts'
import { parseSmtpUrl } from '../records/mail/smtp-url.ts'
import { mailAddress } from '../shared/mail/mail-address.ts'
import type { PresentOptions } from './open-settings.ts'

const MAX_CALL_DEPTH = 32

export function accessSettings(
  { present }: PresentOptions,
  passwordCost: PasswordCost | undefined,
): AccessSettings {
  return {
    get lockoutAttempts() {
      return present().lockoutAttempts
    },
    get lockoutSeconds() {
      return present().lockoutSeconds
    },
    addressAttempts: 100,
    tokenSeconds: 14 * 86_400,
    links: linkSettings(present()),
    ...(passwordCost && { passwordCost }),
  }
}

function linkSettings({ mailUrl, publicUrl, signUp }: Options): LinkSettings | undefined {
  if (mailUrl === '' || publicUrl === '') return undefined
  return { publicUrl, signUp: signUp === 'off' ? undefined : signUp }
}

export function runLimits({ present }: PresentOptions): RunLimits {
  return {
    get deadline() {
      return present().runDeadline
    },
    get budget() {
      return present().runBudget
    },
    depth: MAX_CALL_DEPTH,
  }
}

export function streamLimits({ present }: PresentOptions): StreamLimits {
  return {
    get all() {
      return present().streams
    },
    get ofAddress() {
      return present().streamsPerAddress
    },
    get ofUser() {
      return present().streamsPerUser
    },
  }
}

/** Where mail goes. Its own options were checked when they were read. */
export function mailSettings({ mailUrl, mailFrom }: Options): MailSettings {
  const server = mailUrl === '' ? undefined : parseSmtpUrl(mailUrl)
  return { server, from: mailAddress(mailFrom) ?? { name: '', address: '' } }
}

export function httpSettings({ present, watch }: PresentOptions): HttpSettings {
  const options = present()
  return {
    host: options.host,
    port: options.port,
    bodyLimit: options.bodyLimit,
    corsOrigins: options.corsOrigins,
    get rateLimit() {
      return present().rateLimit
    },
    get connections() {
      return present().connections
    },
    get waitingBytes() {
      return present().replyMemory * 1024 * 1024
    },
    environment: options.environment,
    trustProxy: options.trustProxy.length > 0 ? options.trustProxy : false,
    get logLevel() {
      return present().logLevel
    },
    watch,
  }
}
