import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { guidSource } from '../../shared/guid.ts'
import type { randomAndHashFunctions } from '../language/declared/random-and-hashes.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { hashName } from '../language/literals/literals.ts'
import type { BodiesOf } from './body-of.ts'
import { spendOnText } from './bounded.ts'

const TOKEN_BYTES = 32

export const randomAndHashBodies: BodiesOf<typeof randomAndHashFunctions> = {
  uuid: (context) => guidsOf(context)(),
  randomToken: (context) =>
    context.random(TOKEN_BYTES).toBase64({ alphabet: 'base64url', omitPadding: true }),
  randomNumber: (context, from, to) => randomFrom(context, from, to),
  hash: (context, algorithm, text) => {
    spendOnText(context, text, 30)
    return createHash(hashName(algorithm)).update(text).digest('hex')
  },
  hmac: (context, algorithm, key, text) => {
    for (const one of [key, text]) spendOnText(context, one, 30)
    return createHmac(hashName(algorithm), key).update(text).digest('hex')
  },
  equalInConstantTime: (context, a, b) => {
    if (b === undefined) return false
    for (const text of [a, b]) spendOnText(context, text, 15)
    return timingSafeEqual(digest(a), digest(b))
  },
}

/** One source for all of a run: two of one millisecond are in the order in which they were made. */
const guidSources = new WeakMap<FunctionContext, () => string>()

function guidsOf(context: FunctionContext): () => string {
  const known = guidSources.get(context)
  if (known) return known
  const source = guidSource(
    () => context.now(),
    (bytes) => bytes.set(context.random(bytes.length)),
  )
  guidSources.set(context, source)
  return source
}

/** Of equal length, which the comparison asks for. */
function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

/** Bits of a double that are exact. */
const BITS = 2 ** 53
/** Less than every second try is refused: so many in a row mean that the bytes are not random. */
const MOST_TRIES = 128

/** Without a bias: numbers beyond the last whole multiple of the span are drawn again. */
function randomFrom(context: FunctionContext, from: number, to: number): number {
  const span = to - from + 1
  if (span < 1) throw new ArgumentError('to', 'must not be smaller than from')
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || span > BITS)
    throw new ArgumentError('to', 'is too far from from: at most 2^53 numbers')
  const limit = BITS - (BITS % span)
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const drawn = draw(context.random(7))
    if (drawn < limit) return from + (drawn % span)
  }
  throw new Error('The source of random bytes is broken.')
}

function draw(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte, i) => (i === 0 ? byte & 31 : sum * 256 + byte), 0)
}
