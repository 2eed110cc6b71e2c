import { Type } from 'typebox'
import type { Wire } from '../wire.ts'
import { signedInSchema } from './auth.ts'

const code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Six digits of an authenticator app, or a recovery code. Spaces and hyphens do not count.',
})
const challenge = Type.String({ minLength: 1, maxLength: 64 })
export const recoveryCodeList = Type.Array(Type.String(), {
  description: 'Ten codes, each for one sign-in without the app. Shown once: only hashes are stored.',
})

export const finishSignInSchema = Type.Object(
  { challenge: Type.String({ ...challenge, description: 'From `details` of the sign-in.' }), code },
  { additionalProperties: false },
)
export const finishedSignInSchema = Type.Object({
  ...signedInSchema.properties,
  recovery_codes: Type.Optional(
    Type.Array(Type.String(), { description: 'Where this sign-in has set up the factor. Shown once.' }),
  ),
})

export const confirmSchema = Type.Object(
  {
    password: Type.String({ minLength: 1 }),
    code: Type.Optional(Type.String({ ...code, description: 'Required with a second factor.' })),
  },
  { additionalProperties: false },
)
export const confirmedSchema = Type.Object({
  confirmed_until: Type.Integer({ description: 'Unix seconds.' }),
})

export const secondFactorSchema = Type.Object({
  password: Type.Boolean({
    description:
      'Whether the user has a password. Without one a session is confirmed by a passkey or a new sign-in.',
  }),
  totp: Type.Boolean({ description: 'Whether the user has an authenticator app.' }),
  passkeys: Type.Integer({ description: 'How many passkeys the user has.' }),
  since: Type.Integer({ description: 'Unix seconds at which the app was added; 0 = never.' }),
  last_used: Type.Integer({ description: 'Unix seconds; 0 = never.' }),
  recovery_codes: Type.Integer({ description: 'How many recovery codes are left.' }),
  locked_until: Type.Integer({ description: 'Unix seconds until which no code is checked; 0 = not locked.' }),
})
export type SecondFactor = Wire<typeof secondFactorSchema>

export const begunFactorSchema = Type.Object({
  challenge: Type.String({ description: 'Send it back with a code of the app.' }),
  expiry: Type.Integer({ description: 'Unix seconds at which the challenge ends.' }),
  secret: Type.String({ description: 'Base32, to type into an app.' }),
  uri: Type.String({ description: 'The same as `otpauth://` address, for a QR code.' }),
})
export type BegunFactor = Wire<typeof begunFactorSchema>
export const addFactorSchema = Type.Object({ challenge, code }, { additionalProperties: false })
export const recoveryCodesSchema = Type.Object({ recovery_codes: recoveryCodeList })
export type RecoveryCodes = Wire<typeof recoveryCodesSchema>
