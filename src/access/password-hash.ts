/**
 * Passwords are kept as argon2id hashes in the PHC string format: `$argon2id$v=19$m=12288,t=3,p=1$<salt>$<hash>`, base64
 * without padding. The parameters are one of the five that OWASP calls equal; glibc keeps the memory of a hash for each
 * thread that made one, so a smaller one leaves less behind than the usual 19 MiB with two passes, which takes as long.
 * Only two run at once (two of libuv's four threads stay free for the disk) and only so many wait.
 */

import { argon2, timingSafeEqual } from 'node:crypto'
import { boundedQueue } from '../shared/cooperative.ts'
import type { Random } from '../shared/guid.ts'
import { normalizedText } from '../shared/texts/normalized-text.ts'
import { foreignHash } from './foreign-hash.ts'

/** What one hash costs, in time and memory. */
export interface PasswordCost {
  /** KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

interface ParsedHash extends PasswordCost {
  readonly salt: Buffer
  readonly hash: Buffer
}

const RECOMMENDED: PasswordCost = { memory: 12_288, passes: 3, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** KiB. A stored hash that asks for more was not made by us, and is not worth the memory. */
const MAX_MEMORY = 262_144
const PHC =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,5}),t=([1-9]\d?),p=([1-9]\d?)\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{16,86})$/

export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** Whether the password is the stored one. Without a stored one false, after the same work. */
  verify(password: string, stored: string | undefined): Promise<boolean>
  /** Whether the stored hash has the cost that new ones get; if not, renew it while the password is at hand. */
  isCurrent(stored: string): boolean
}

/**
 * All passwords of a node go through one hasher. 200 waiting are about three seconds; more get UNAVAILABLE. Tests that
 * are not about hashing give a lower cost.
 */
export function passwordHasher(random: Random, cost: PasswordCost = RECOMMENDED): PasswordHasher {
  const turn = boundedQueue({
    ...{ atOnce: 2, waiting: 200, retryAfter: 3 },
    refusal: 'Too many passwords are being checked right now. Try again soon.',
  })
  // Verified against when there is no user. No password has it: its hash is random.
  const nobody: ParsedHash = {
    ...cost,
    salt: randomBytes(random, SALT_BYTES),
    hash: randomBytes(random, HASH_BYTES),
  }
  return {
    async hash(password) {
      const salt = randomBytes(random, SALT_BYTES)
      const hash = await turn(() => derive(password, salt, cost, HASH_BYTES))
      return formatHash({ ...cost, salt, hash })
    },
    async verify(password, stored) {
      const known = stored === undefined ? undefined : parseHash(stored)
      const foreign = stored === undefined || known ? undefined : foreignHash(stored)
      if (foreign) return turn(() => matchesForeign(foreign, password))
      const requested = known ?? nobody
      const hash = await turn(() => derive(password, requested.salt, requested, requested.hash.length))
      return timingSafeEqual(hash, requested.hash) && known !== undefined
    },
    isCurrent(stored) {
      const parsed = parseHash(stored)
      return (
        parsed?.memory === cost.memory &&
        parsed.passes === cost.passes &&
        parsed.parallelism === cost.parallelism
      )
    },
  }
}

/** Other systems may have hashed the password as it was typed. */
async function matchesForeign(
  check: (password: string) => Promise<boolean>,
  password: string,
): Promise<boolean> {
  if (await check(password)) return true
  const normalized = normalizedText(password, 'NFKC')
  return normalized !== password && check(normalized)
}

// The same password typed on two systems may arrive composed or decomposed; normalized, both are one (NIST SP 800-63B).
function derive(password: string, salt: Buffer, cost: PasswordCost, length: number): Promise<Buffer> {
  const message = Buffer.from(normalizedText(password, 'NFKC'))
  const { memory, passes, parallelism } = cost
  return new Promise((resolve, reject) => {
    argon2(
      'argon2id',
      { message, nonce: salt, memory, passes, parallelism, tagLength: length },
      (error, hash) => (error ? reject(error) : resolve(hash)),
    )
  })
}

function formatHash({ memory, passes, parallelism, salt, hash }: ParsedHash): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`
}

/** What keeps a hash from being stored for a user, in words that finish "password_hash …", or undefined. */
export function storedHashProblem(text: string): string | undefined {
  return foreignHash(text)
    ? undefined
    : 'must be a hash of bcrypt (cost 4 to 14), argon2, scrypt or PBKDF2 as docs/identity.md shows, of a usual cost'
}

function parseHash(text: string): ParsedHash | undefined {
  const [, memory, passes, parallelism, salt, hash] = PHC.exec(text) ?? []
  if (!memory || !passes || !parallelism || !salt || !hash) return undefined
  // Less than 8 KiB a lane is outside of the algorithm.
  if (Number(memory) > MAX_MEMORY || Number(memory) < 8 * Number(parallelism)) return undefined
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/(?<!=)=+$/, '')
}

function randomBytes(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  random(bytes)
  return bytes
}
