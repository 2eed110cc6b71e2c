/**
 * What a passkey has signed, checked by the library. A credential id that no user has costs the same work: a key of ours, to which no
 * signature belongs, is asked in its place.
 */
import { takeSingleUse } from '../access/single-use.ts'
import type { Assertion, Registration } from '../shared/api/people/passkeys.ts'
import { setFields } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { PasskeyChallenge, PasskeySite } from './passkey-challenge.ts'
import { findPasskey, type PasskeyRecord, passkeyRecord } from './passkey-record.ts'

/** Ed25519, ECDSA on P-256, RSA: what authenticators have. Post-quantum ones would need other limits of a body. */
export const passkeyAlgorithms = [-8, -7, -257] as const

/** A point on P-256 whose secret nobody has. */
const NO_KEY =
  'pQECAyYgASFYINZeV9XmSJZ3dmM75Eo6c7sJh4yX-UbNdr4oWPb8sljiIlggpsN6LESmiuxrsJO1R0BA_Uf_aXjstzsUC7Yx_ufb4Tw'

/** A passkey that has signed a challenge. It counts once, when `usePasskey` takes it. */
export interface PasskeyProof {
  readonly passkey: PasskeyRecord
  readonly counter: number
  readonly backedUp: boolean
  readonly challenge: PasskeyChallenge
}

/** Loads the library, which a server without passkeys never needs. */
function loadLibrary() {
  return import('@simplewebauthn/server')
}

/** Undefined for a signature, site, counter or body that is wrong. */
export async function proveAssertion(
  session: Session,
  site: PasskeySite,
  { id, rawId, type, response }: Assertion,
  challenge: PasskeyChallenge,
): Promise<PasskeyProof | undefined> {
  const { verifyAuthenticationResponse } = await loadLibrary()
  const found = await findPasskey(session, id)
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      ...{ expectedChallenge: challenge.text, expectedOrigin: site.origin, expectedRPID: site.host },
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(found?.publicKey ?? NO_KEY, 'base64url')),
        counter: found?.counter ?? 0,
      },
    })
    if (!verified || !found || found.host !== site.host) return undefined
    // The passkey says to whom it belongs.
    if (userHandle && userHandle !== userHandleOf(found.userGuid)) return undefined
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo
    return { passkey: found, counter, backedUp, challenge }
  } catch {
    // Its messages say what a caller has sent: nothing that an operator could mend.
    return undefined
  }
}

/** Takes a proof in the transaction of what it permits. False if the passkey is not the user's, or it was used meanwhile. */
export async function usePasskey(
  session: Session,
  { passkey, counter, backedUp, challenge }: PasskeyProof,
  userGuid: string,
  now: number,
): Promise<boolean> {
  const stored = await session.get(systemStorages.passkeys, passkey.guid)
  const present = stored && passkeyRecord(documentOf(stored))
  if (present?.userGuid !== userGuid) return false
  // Authenticators that count nothing say 0 each time.
  if ((counter > 0 || present.counter > 0) && counter <= present.counter) return false
  if (!(await takeSingleUse(session, 'passkey', challenge))) return false
  const fields = { counter, last_used: now, backed_up: backedUp }
  await session.update(systemStorages.passkeys, passkey.guid, setFields(fields))
  return true
}

/** What a new passkey says of itself. */
export interface NewCredential {
  readonly credentialId: string
  readonly publicKey: string
  readonly counter: number
  readonly backedUp: boolean
}

export async function proveRegistration(
  site: PasskeySite,
  { id, rawId, type, response }: Registration,
  challenge: PasskeyChallenge,
): Promise<NewCredential | undefined> {
  const { verifyRegistrationResponse } = await loadLibrary()
  const { clientDataJSON, attestationObject } = response
  try {
    if (!(await isAnonymous(attestationObject))) return undefined
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: { clientDataJSON, attestationObject },
      },
      ...{ expectedChallenge: challenge.text, expectedOrigin: site.origin, expectedRPID: site.host },
      supportedAlgorithmIDs: [...passkeyAlgorithms],
    })
    if (!verified) return undefined
    const { credential, credentialBackedUp: backedUp } = registrationInfo
    const publicKey = Buffer.from(credential.publicKey).toString('base64url')
    return { credentialId: credential.id, publicKey, counter: credential.counter, backedUp }
  } catch {
    return undefined
  }
}

/**
 * Nothing but the form `none` is asked for. Of the others the library would check certificates, and would ask the addresses that they name:
 * a user could have this server send requests anywhere.
 */
async function isAnonymous(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const bytes = new Uint8Array(Buffer.from(attestationObject, 'base64url'))
  return decodeAttestationObject(bytes).get('fmt') === 'none'
}

/** The name of a user that a passkey holds: WebAuthn asks for bytes that say nothing of the person. */
export function userHandleOf(userGuid: string): string {
  return Buffer.from(userGuid).toString('base64url')
}
