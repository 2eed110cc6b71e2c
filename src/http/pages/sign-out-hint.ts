/**
 * The ID token of a sign-in, which a provider asks for at sign-out (`id_token_hint`): with it the provider knows whose session ends and asks
 * no question. Only the browser has it, in a cookie that it sends to the sign-out page alone; the server stores and logs nothing. The
 * cookie is sealed, so that a copy of it does not show the claims. A token that does not fit is left out: the provider may ask then.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { seal, unseal } from '../../records/secrets/secrets.ts'
import { readSecretKey, type SecretKey, type SigningSecret } from '../../records/secrets/signing-secret.ts'
import { accountPaths } from '../../shared/account-paths.ts'
import type { Random } from '../../shared/guid.ts'
import { cookieOf, setCookie } from '../server/origin.ts'

const COOKIE = 'quoin_signout'
/** Browsers drop a cookie of over 4,096 characters with its name; a request has 16 KiB for all headers. */
const LONGEST = 3_900
/** Of the text of a token, before it is packed: more never fits. */
const LONGEST_TOKEN = 16 * 1024
/** As long as a session without use: of one that is older the provider may ask. */
const SECONDS = 14 * 24 * 3600
const PATH = `/${accountPaths.signOut}`

interface Sealing {
  readonly secret: SigningSecret
  readonly random: Random
}

/** Undefined for a token that does not fit into a cookie. `provider`: its guid, the only one for which it opens. */
export function sealedHint(
  { secret, random }: Sealing,
  provider: string,
  idToken: string,
): string | undefined {
  if (idToken === '' || idToken.length > LONGEST_TOKEN) return undefined
  // The letters of a token have six bits each: packed and sealed it is as long as before.
  const packed = deflateRawSync(idToken).toString('base64url')
  const sealed = seal(keyOf(secret), provider, packed, random)
  return sealed.length > LONGEST ? undefined : sealed
}

/** Undefined for one of another provider or cluster, or that was changed. */
export function openedHint(secret: SigningSecret, provider: string, sealed: string): string | undefined {
  if (sealed.length > LONGEST) return undefined
  const packed = unseal(keyOf(secret), provider, sealed)
  if (packed === undefined) return undefined
  return inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: LONGEST_TOKEN }).toString()
}

function keyOf(secret: SigningSecret): SecretKey {
  const key = readSecretKey(secret.sign('sign-out hint', 'key'))
  if (key) return key
  throw new TypeError('A signature has 256 bits.')
}

/** An empty token removes what the sign-in before has left. */
export function keepHint(
  sealing: Sealing,
  request: FastifyRequest,
  reply: FastifyReply,
  { guid, idToken }: { readonly guid: string; readonly idToken: string },
): void {
  const sealed = sealedHint(sealing, guid, idToken)
  setCookie(request, reply, COOKIE, sealed ?? '', { maxAge: sealed === undefined ? 0 : SECONDS, path: PATH })
}

/** The token for the provider from which the session came. The browser has it no longer. */
export function takeHint(
  secret: SigningSecret,
  request: FastifyRequest,
  reply: FastifyReply,
  provider: string,
): string | undefined {
  const sealed = cookieOf(request, COOKIE)
  if (sealed === undefined) return undefined
  setCookie(request, reply, COOKIE, '', { maxAge: 0, path: PATH })
  return openedHint(secret, provider, sealed)
}
