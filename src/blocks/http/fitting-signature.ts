import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto'
import { othersTurn } from '../../shared/others-turn.ts'
import type { Encoding, SentSignature, SignatureScheme } from './signature-schemes.ts'
import { BODY } from './signed-text.ts'

/** Hashed in one turn: 2.3 ms with SHA-256, 4.9 ms with SHA-512. */
const A_TURN = 4 * 1024 * 1024

/** Whether one of the signatures is of this body and one of the secrets. Compared in constant time. */
export async function fittingSignature(
  { algorithm, encoding }: Pick<SignatureScheme, 'algorithm' | 'encoding'>,
  { signatures, signed }: SentSignature,
  body: Uint8Array,
  secrets: readonly (string | Uint8Array)[],
): Promise<boolean> {
  const sent = signatures.map((one) => written(one, encoding))
  let fits = false
  for (const secret of secrets) {
    const hmac = createHmac(algorithm, secret)
    for (const part of signed)
      if (part === BODY) await update(hmac, body)
      else hmac.update(part)
    const expected = Buffer.from(hmac.digest(encoding))
    // All are compared, so that the time does not say which one was near.
    for (const one of sent)
      if (one.byteLength === expected.byteLength && timingSafeEqual(one, expected)) fits = true
  }
  return fits
}

async function update(hmac: Hmac, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.byteLength; at += A_TURN) {
    hmac.update(body.subarray(at, at + A_TURN))
    if (at + A_TURN < body.byteLength) await othersTurn()
  }
}

/** As our digests are written: digits in lower case, base64url without padding. */
function written(signature: string, encoding: Encoding): Buffer {
  if (encoding === 'hex') return Buffer.from(signature.toLowerCase())
  return Buffer.from(encoding === 'base64url' ? signature.replace(/(?<!=)=+$/, '') : signature)
}
