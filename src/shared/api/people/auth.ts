import { Type } from 'typebox'
import { anyJson, metaSchema, nullableText, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

export const signInSchema = Type.Object(
  {
    username: Type.String({ minLength: 1, description: 'User name or e-mail address.' }),
    password: Type.String({ minLength: 1 }),
    entity: Type.Optional(anyJson('Accepted from older clients and not used.')),
    request_refresh_token: Type.Optional(
      Type.Boolean({
        description:
          'Accepted from older clients. A token is extended when it is used; there is no refresh token.',
      }),
    ),
  },
  { additionalProperties: false },
)

const signedInUser = Type.Object({
  _meta: Type.Object({ guid: Type.String() }),
  username: Type.String(),
  email: nullableText,
  firstname: Type.String(),
  lastname: Type.String(),
  language: Type.String(),
})

export const signedInSchema = Type.Object({
  access_token: Type.String({ description: 'Send it as `Authorization: Bearer …`.' }),
  expiry: Type.Integer({ description: 'Unix seconds.' }),
  expiry_renew: Type.Integer({ description: 'Seconds to which each use extends the token.' }),
  verified: Type.Boolean(),
  second_factor_due: Type.Optional(
    Type.Integer({
      description: 'Unix seconds from which a group of the user requires a second factor, which is missing.',
    }),
  ),
  user: storedRecord(signedInUser),
  ip: Type.String({ description: 'Address of the client.' }),
})

export type SignedIn = Omit<Wire<typeof signedInSchema>, 'user'> & {
  readonly user: Wire<typeof signedInUser>
}

export const pageSessionSchema = Type.Object(
  {
    stay: Type.Optional(
      Type.Boolean({ description: 'Keep the cookie for 14 days; by default until the browser is closed.' }),
    ),
    replace: Type.Optional(
      Type.Boolean({ description: 'Also where another session is signed in on pages. Default: false.' }),
    ),
  },
  { additionalProperties: false },
)
export const pageSessionSetSchema = Type.Object({
  shared: Type.Boolean({ description: 'Whether pages now have the session of the request.' }),
})

export const signedOutSchema = Type.Object({
  logout: Type.Literal(true),
  continue: Type.Optional(
    Type.String({
      description:
        'Path of this site that the browser opens next, within a minute: it leads to the provider from which the session came, and signs the user out there.',
    }),
  ),
})

export const exchangeSchema = Type.Object(
  {
    code: Type.String({ minLength: 1, maxLength: 100 }),
    verifier: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9._~-]{43,128}$', description: 'As in RFC 7636; of programs.' }),
    ),
  },
  { additionalProperties: false },
)
export const exchangedSchema = Type.Object({
  access_token: Type.String({ description: 'Send it as `Authorization: Bearer …`.' }),
  username: Type.String(),
})

const sessionRecord = Type.Object({
  _meta: metaSchema,
  created: Type.Integer({ description: 'Unix seconds at which the user signed in.' }),
  last_used: Type.Integer({ description: 'Unix seconds, to the hour.' }),
  expiry: Type.Integer({ description: 'Unix seconds at which the session ends unless it is used.' }),
  ip: Type.String({ description: 'The address that signed in.' }),
  agent: Type.String({ description: 'The header `user-agent` of the sign-in.' }),
  current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
})
export type UserSession = Wire<typeof sessionRecord>
export const sessionSchema = storedRecord(sessionRecord)

export const endedSchema = Type.Object({ ended: Type.Integer({ description: 'How many sessions ended.' }) })

/** `{session}` beside `{guid}` in a path. */
export const sessionParams = Type.Object({
  session: Type.String({ description: 'The `_meta.guid` of the session.' }),
})
export const sessionOfUserParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the user.' }),
  session: Type.String({ description: 'The `_meta.guid` of the session.' }),
})
