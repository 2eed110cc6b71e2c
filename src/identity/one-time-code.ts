/**
 * Codes of an authenticator app (TOTP, RFC 6238) and recovery codes. An app changes its code every 30 seconds; the code before and
 * the one after are taken too, for clocks that differ. A recovery code is 80 random bits, so its SHA-256 cannot be guessed.
 */
import { hash } from 'node:crypto'
import type { Random } from '../shared/guid.ts'

const STEP_SECONDS = 30
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20
const RECOVERY_CODES = 10
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

export interface Totp {
  /** In base32. */
  newSecret(random: Random): string
  /** The address that an app reads from a QR code. */
  uriOf(secret: string, account: { readonly issuer: string; readonly username: string }): string
  /** The step (number of 30 seconds since 1970) whose code this is; undefined for a wrong code. `now`: Unix seconds. */
  stepOf(secret: string, code: string, now: number): number | undefined
}

/** Loads the library, which a server without second factors never needs. */
export async function loadTotp(): Promise<Totp> {
  const { Secret, TOTP } = await import('otpauth')
  const form = { algorithm: 'SHA1', digits: 6, period: STEP_SECONDS } as const
  return {
    newSecret(random) {
      const bytes = new Uint8Array(SECRET_BYTES)
      random(bytes)
      return new Secret({ buffer: bytes.buffer }).base32
    },
    uriOf: (secret, { issuer, username }) =>
      new TOTP({ ...form, issuer, label: username, secret }).toString(),
    stepOf(secret, code, now) {
      const key = Secret.fromBase32(secret)
      const delta = TOTP.validate({ ...form, token: code, secret: key, timestamp: now * 1000, window: 1 })
      return delta === null ? undefined : Math.floor(now / STEP_SECONDS) + delta
    },
  }
}

/** What a user typed: spaces, hyphens and case do not count. Longer texts are no codes. */
export function typedCode(text: string): string {
  return text.length > 64 ? '' : text.replace(/[\s-]/g, '').toLowerCase()
}

/** Ten codes to show once, in four groups of four. */
export function newRecoveryCodes(random: Random): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const bytes = new Uint8Array(16)
    random(bytes)
    const code = Array.from(bytes, (byte) => BASE32[byte & 31]).join('')
    return code.replace(/.{4}(?=.)/g, '$&-')
  })
}

/** What a recovery code is stored as. */
export function recoveryCodeHash(userGuid: string, code: string): string {
  return hash('sha256', `recovery ${userGuid} ${typedCode(code)}`, 'hex')
}
