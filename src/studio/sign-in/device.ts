/** What this device is asked for: to sign a challenge with a passkey, or to make one. */

import type { Info } from '../../shared/api/operate/nodes.ts'
import type { CreationOptions, RequestOptions } from '../../shared/api/people/passkeys.ts'

import { signInTexts } from '../texts/sign-in.ts'

/** Whether a browser at this address has passkeys of the server. */
export function hasPasskeys({ flags }: Pick<Info, 'flags'>): boolean {
  return typeof PublicKeyCredential !== 'undefined' && flags.passkeys === location.hostname
}

/** The credential as JSON. Throws where its user cancels. */
export async function signWithPasskey(
  options: RequestOptions,
  how: Pick<CredentialRequestOptions, 'mediation' | 'signal'> = {},
): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  return jsonOf(await navigator.credentials.get({ ...how, publicKey }))
}

export async function makePasskey(options: CreationOptions): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  return jsonOf(await navigator.credentials.create({ publicKey }))
}

function jsonOf(credential: Credential | null): unknown {
  if (credential instanceof PublicKeyCredential) return credential.toJSON()
  throw new TypeError(signInTexts.noPasskey)
}
