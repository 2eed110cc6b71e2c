import { type Static, Type } from 'typebox'
import { metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'
import { recoveryCodeList } from './second-factors.ts'

/** Of each object that a browser sends: it may have members that are not known here, but not a thousand. */
const few = { maxProperties: 16 }
/** Bytes in base64url. A credential id has at most 1,023 bytes. */
const bytes = (most: number) => Type.String({ minLength: 1, maxLength: most, pattern: '^[A-Za-z0-9_-]+$' })
const credentialId = bytes(1_364)
const nameText = Type.String({ minLength: 1, maxLength: 64, description: 'What the user calls it.' })

const credentialFields = {
  id: credentialId,
  rawId: credentialId,
  type: Type.Literal('public-key'),
  authenticatorAttachment: Type.Optional(Type.Union([Type.String({ maxLength: 32 }), Type.Null()])),
  clientExtensionResults: Type.Optional(Type.Object({}, few)),
}

/** What `toJSON()` of a credential gives after `navigator.credentials.get`. */
export const assertionSchema = Type.Object(
  {
    ...credentialFields,
    response: Type.Object(
      {
        clientDataJSON: bytes(4_096),
        authenticatorData: bytes(2_048),
        signature: bytes(1_024),
        userHandle: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
      },
      few,
    ),
  },
  { ...few, description: 'The credential as `toJSON()` gives it.' },
)
export type Assertion = Wire<typeof assertionSchema>

/** The same after `navigator.credentials.create`. */
export const registrationSchema = Type.Object(
  {
    ...credentialFields,
    response: Type.Object(
      {
        clientDataJSON: bytes(4_096),
        attestationObject: bytes(8_192),
        transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10 })),
      },
      few,
    ),
  },
  { ...few, description: 'The credential as `toJSON()` gives it.' },
)
export type Registration = Wire<typeof registrationSchema>

const credentialSchema = Type.Object({
  id: Type.String(),
  type: Type.Literal('public-key'),
  transports: Type.Array(Type.String()),
})
const timeout = Type.Integer({ description: 'Milliseconds.' })

/** For `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export const requestOptionsSchema = Type.Object({
  challenge: Type.String({ description: 'Works once, in the browser that asked for it.' }),
  timeout,
  rpId: Type.String({ description: 'The host of QUOIN_PUBLIC_URL.' }),
  allowCredentials: Type.Array(credentialSchema),
  userVerification: Type.Literal('required'),
})
export type RequestOptions = Static<typeof requestOptionsSchema>

/** For `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export const creationOptionsSchema = Type.Object({
  challenge: Type.String({ description: 'Works once, in the session that asked for it.' }),
  timeout,
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
  excludeCredentials: Type.Array(credentialSchema),
  attestation: Type.Literal('none'),
  authenticatorSelection: Type.Object({
    residentKey: Type.Literal('required'),
    requireResidentKey: Type.Literal(true),
    userVerification: Type.Literal('required'),
  }),
})
export type CreationOptions = Static<typeof creationOptionsSchema>

const signInChallenge = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    description:
      'Where a password came before: `challenge` of the reply SECOND_FACTOR_REQUIRED. The passkey is the second factor then.',
  }),
)
export const passkeyOptionsSchema = Type.Object(
  { challenge: signInChallenge },
  { additionalProperties: false },
)
export const passkeySignInSchema = Type.Object(
  { passkey: assertionSchema, challenge: signInChallenge },
  { additionalProperties: false },
)
const setupChallenge = Type.String({
  minLength: 1,
  maxLength: 64,
  description: '`challenge` of the reply SECOND_FACTOR_REQUIRED, where its details have `setup.passkey`.',
})
export const passkeySetupOptionsSchema = Type.Object(
  { challenge: setupChallenge },
  { additionalProperties: false },
)
export const passkeySetupSchema = Type.Object(
  { challenge: setupChallenge, name: nameText, passkey: registrationSchema },
  { additionalProperties: false },
)
export const passkeyConfirmSchema = Type.Object({ passkey: assertionSchema }, { additionalProperties: false })

const passkeyRecord = Type.Object({
  _meta: metaSchema,
  name: nameText,
  created: Type.Integer({ description: 'Unix seconds.' }),
  last_used: Type.Integer({ description: 'Unix seconds; 0 = never.' }),
  host: Type.String({ description: 'It signs in at this host only.' }),
  backed_up: Type.Boolean({ description: 'Whether it is copied to other devices of the user.' }),
})
export type Passkey = Wire<typeof passkeyRecord>
export const passkeySchema = storedRecord(passkeyRecord)

export const passkeysSchema = Type.Object({
  passkeys: Type.Array(passkeySchema),
  host: Type.String({ description: 'Where passkeys work: the host of QUOIN_PUBLIC_URL.' }),
  unavailable: Type.String({ description: 'Why there are no passkeys here; empty where there are.' }),
})
export type Passkeys = Omit<Wire<typeof passkeysSchema>, 'passkeys'> & {
  readonly passkeys: readonly Passkey[]
}

export const addPasskeySchema = Type.Object(
  { name: nameText, passkey: registrationSchema },
  { additionalProperties: false },
)
export const addedPasskeySchema = Type.Object({
  passkey: passkeySchema,
  recovery_codes: Type.Optional(recoveryCodeList),
})
export type AddedPasskey = { readonly passkey: Passkey; readonly recovery_codes?: readonly string[] }
export const renamePasskeySchema = Type.Object({ name: nameText }, { additionalProperties: false })
export const passkeyParams = Type.Object({
  passkey: Type.String({ description: 'The `_meta.guid` of the passkey.' }),
})
