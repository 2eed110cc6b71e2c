/** What a browser is asked for: to sign a challenge with a passkey, or to make one. */
import { type AccessContext, unixSeconds } from '../access/access-context.ts'
import type { UserRecord } from '../access/user-record.ts'
import type { CreationOptions, RequestOptions } from '../shared/api/people/passkeys.ts'
import { QuoinError } from '../shared/errors.ts'
import {
  newPasskeyChallenge,
  PASSKEY_SECONDS,
  type PasskeySite,
  type PasskeyUse,
  passkeyProblems,
  passkeySite,
} from './passkey-challenge.ts'
import { passkeyAlgorithms, userHandleOf } from './passkey-proof.ts'
import { MOST_PASSKEYS, type PasskeyRecord } from './passkey-record.ts'

/** CONFLICT with the reason where there are none. */
export function siteOf({ settings }: AccessContext): PasskeySite {
  const site = passkeySite(settings.publicUrl ?? '')
  if (typeof site === 'string') throw new QuoinError('CONFLICT', passkeyProblems[site])
  return site
}

/** `allowed`: empty for any passkey that the device has for this site. */
export function requestOptions(
  context: AccessContext,
  use: PasskeyUse,
  allowed: readonly PasskeyRecord[],
): RequestOptions {
  const { host } = siteOf(context)
  return {
    challenge: newPasskeyChallenge(context, use, unixSeconds(context.clock)),
    timeout: PASSKEY_SECONDS * 1000,
    rpId: host,
    allowCredentials: descriptors(allowed),
    userVerification: 'required',
  }
}

/** `own`: passkeys that the user has already. CONFLICT where there are no passkeys, or the user has ten. */
export function creationOptions(
  context: AccessContext,
  use: PasskeyUse,
  { guid, username }: Pick<UserRecord, 'guid' | 'username'>,
  own: readonly PasskeyRecord[],
): CreationOptions {
  const { host } = siteOf(context)
  refuseTooMany(own)
  return {
    challenge: newPasskeyChallenge(context, use, unixSeconds(context.clock)),
    timeout: PASSKEY_SECONDS * 1000,
    rp: { id: host, name: context.settings.siteName || 'Quoin' },
    user: { id: userHandleOf(guid), name: username, displayName: username },
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: descriptors(own),
    attestation: 'none',
    authenticatorSelection: {
      ...{ residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    },
  }
}

export function refuseTooMany(own: readonly PasskeyRecord[]): void {
  if (own.length >= MOST_PASSKEYS)
    throw new QuoinError(
      'CONFLICT',
      `You have ${MOST_PASSKEYS} passkeys, which is the most. Remove one first.`,
    )
}

function descriptors(records: readonly PasskeyRecord[]) {
  return records.map(({ credentialId, transports }) => ({
    ...{ id: credentialId, type: 'public-key' as const, transports: [...transports] },
  }))
}
