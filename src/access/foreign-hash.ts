/**
 * Hashes of passwords that other systems made, so that their users keep their passwords when they move here. Such a hash is
 * checked as it is at the first sign-in, which stores it as ours (`password-hash.ts`).
 *
 * - bcrypt: `$2b$10$…`, also `$2a$` and `$2y$` (PHP, Rails, PocketBase)
 * - argon2: `$argon2id$v=19$m=65536,t=3,p=4$…`, also `argon2i` and `argon2d` (Directus, Laravel)
 * - scrypt: `$scrypt$ln=15,r=8,p=1$…` (passlib)
 * - PBKDF2: `$pbkdf2-sha256$29000$…` and `sha512` (passlib), `pbkdf2_sha256$600000$…` (Django)
 */
import { argon2, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { QuoinError } from '../shared/errors.ts'

/** Whether it is the password. `longest`: milliseconds that a thread of its own may take. */
type Check = (password: string, longest?: number) => Promise<boolean>

interface Format {
  readonly pattern: RegExp
  /** Undefined for a cost that is outside of the algorithm, or that no sign-in may have. */
  read(parts: readonly string[]): Check | undefined
}

/** Bytes. A hash of ours takes 12 MiB. */
const MOST_MEMORY = 256 * 1024 * 1024
const MOST_ROUNDS = 2_000_000
/** 2^14 rounds of bcrypt take about a second. */
const MOST_BCRYPT = 14
/** Also on a machine that is busy. A sign-in that waits for longer would keep the place of others. */
const LONGEST_MS = 30_000
const BASE64 = '([A-Za-z0-9+/.]{8,200})={0,2}'

const formats: readonly Format[] = [
  {
    pattern: /^(\$2[aby]\$(\d\d)\$[A-Za-z0-9./]{53})$/,
    read: ([hash = '', cost = '']) =>
      Number(cost) >= 4 && Number(cost) <= MOST_BCRYPT
        ? (password, longest = LONGEST_MS) => inBcryptThread({ password, hash }, longest)
        : undefined,
  },
  {
    pattern: new RegExp(
      `^\\$(argon2id|argon2i|argon2d)\\$v=19\\$m=(\\d{1,6}),t=(\\d{1,2}),p=(\\d{1,2})\\$${BASE64}\\$${BASE64}$`,
    ),
    read: ([kind = '', memory, passes, lanes, salt, hash]) => {
      const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(lanes) }
      const { memory: kib, passes: times, parallelism } = cost
      if (times < 1 || parallelism < 1 || kib < 8 * parallelism || kib * 1024 > MOST_MEMORY) return undefined
      if (kib * times > MOST_MEMORY / 256) return undefined
      const algorithm = kind === 'argon2i' ? 'argon2i' : kind === 'argon2d' ? 'argon2d' : 'argon2id'
      return equals(bytes(hash), (password, length) => {
        const asked = { message: Buffer.from(password), nonce: bytes(salt), ...cost, tagLength: length }
        return new Promise((resolve, reject) => {
          argon2(algorithm, asked, (error, found) => (error ? reject(error) : resolve(found)))
        })
      })
    },
  },
  {
    pattern: new RegExp(`^\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,2}),p=(\\d{1,2})\\$${BASE64}\\$${BASE64}$`),
    read: ([log, r, p, salt, hash]) => {
      const cost = { N: 2 ** Number(log), r: Number(r), p: Number(p) }
      const memory = 128 * cost.N * cost.r
      if (cost.N < 2 || cost.r < 1 || cost.p < 1 || memory > MOST_MEMORY || memory * cost.p > 2 * MOST_MEMORY)
        return undefined
      return equals(bytes(hash), (password, length) => {
        const options = { ...cost, maxmem: 2 * memory + 1024 * 1024 }
        return new Promise((resolve, reject) => {
          scrypt(password, bytes(salt), length, options, (error, found) =>
            error ? reject(error) : resolve(found),
          )
        })
      })
    },
  },
  {
    pattern: new RegExp(`^\\$pbkdf2-(sha256|sha512)\\$(\\d{1,7})\\$${BASE64}\\$${BASE64}$`),
    read: ([digest = '', rounds, salt, hash]) => readPbkdf2(digest, Number(rounds), bytes(salt), bytes(hash)),
  },
  {
    // The salt of Django is a text.
    pattern: new RegExp(`^pbkdf2_(sha256)\\$(\\d{1,7})\\$([A-Za-z0-9]{1,128})\\$${BASE64}$`),
    read: ([digest = '', rounds, salt = '', hash]) =>
      readPbkdf2(digest, Number(rounds), Buffer.from(salt), bytes(hash)),
  },
]

/** Undefined for what is none of the formats. */
export function foreignHash(text: string): Check | undefined {
  for (const { pattern, read } of formats) {
    const [, ...parts] = pattern.exec(text) ?? []
    if (parts.length > 0) return read(parts)
  }
  return undefined
}

function readPbkdf2(digest: string, rounds: number, salt: Buffer, hash: Buffer): Check | undefined {
  if (rounds < 1 || rounds > MOST_ROUNDS) return undefined
  return equals(
    hash,
    (password, length) =>
      new Promise((resolve, reject) => {
        pbkdf2(password, salt, rounds, length, digest, (error, found) =>
          error ? reject(error) : resolve(found),
        )
      }),
  )
}

function equals(
  hash: Buffer,
  derive: (password: string, length: number) => Promise<Buffer>,
): Check | undefined {
  if (hash.length < 8 || hash.length > 128) return undefined
  return async (password) => timingSafeEqual(await derive(password, hash.length), hash)
}

/** Also the base64 of passlib, which has a full stop for the plus. */
function bytes(text = ''): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64')
}

export interface BcryptTask {
  readonly password: string
  readonly hash: string
}

/** A thread of its own: bcrypt is no part of Node, and 2^12 rounds in JavaScript take a quarter of a second. */
function inBcryptThread(task: BcryptTask, longest: number): Promise<boolean> {
  const worker = new Worker(new URL('./bcrypt-thread-program.ts', import.meta.url), { workerData: task })
  return new Promise<boolean>((resolve, reject) => {
    const late = () =>
      reject(
        new QuoinError('UNAVAILABLE', 'The password could not be checked in time. Try again soon.', {
          retryAfter: 3,
        }),
      )
    const timer = setTimeout(late, longest)
    worker.once('message', (matches: unknown) => resolve(matches === true))
    worker.once('error', reject)
    worker.once('exit', () => {
      clearTimeout(timer)
      reject(new Error('The thread that checks a password ended without a word.'))
    })
  }).finally(() => worker.terminate())
}
