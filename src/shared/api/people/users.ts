import { Type } from 'typebox'
import { type Actor, anyJson, metaSchema, nullableText, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const setting = Type.Object({ key: Type.String(), value: anyJson() })

const texts = Type.Array(Type.String())

/** What each user may change of its own record. */
const ownFields = {
  firstname: Type.Optional(Type.String()),
  lastname: Type.Optional(Type.String()),
  first_name: Type.Optional(Type.String({ description: 'The same as `firstname`.' })),
  last_name: Type.Optional(Type.String({ description: 'The same as `lastname`.' })),
  language: Type.Optional(Type.String({ description: 'A language tag such as `en` or `nl-NL`.' })),
  timezone: Type.Optional(Type.String({ description: 'An IANA name such as `Europe/Amsterdam`.' })),
}

const inputFields = {
  ...ownFields,
  email: Type.Optional(nullableText),
  settings: Type.Optional(Type.Array(setting)),
  custom_scopes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Scopes held directly. You can only grant scopes that you hold.',
    }),
  ),
  groups: Type.Optional(Type.Array(Type.String(), { description: 'Guids of authentication groups.' })),
  is_active: Type.Optional(Type.Boolean({ description: 'An inactive user cannot sign in.' })),
  active: Type.Optional(Type.Boolean({ description: 'The same as `is_active`.' })),
}

/** What a record holds and no client can set. Ignored, so that a record can be fetched, changed and sent back. */
const ignored = Type.Optional(anyJson('Ignored.'))
const readOnlyFields = {
  _meta: ignored,
  login_attempts: ignored,
  locked_until: ignored,
  last_activity: ignored,
  invited_until: ignored,
}

const password = Type.String({
  description:
    'At least 10 characters. Refused: common passwords, repeated characters, digits in a row, and passwords that contain the user name.',
})

export const createUserSchema = Type.Object(
  {
    username: Type.String(),
    password: Type.Optional(password),
    password_hash: Type.Optional(
      Type.String({
        maxLength: 500,
        description:
          'In place of `password`, for a user of another system: a hash of bcrypt, argon2, scrypt or PBKDF2. The first sign-in stores it as a hash of Quoin.',
      }),
    ),
    is_service: Type.Optional(
      Type.Boolean({
        description:
          'A service account, for programs: it has no password and no address, signs in by no way, and gets no mail. They use its API keys. Cannot be changed.',
      }),
    ),
    ...inputFields,
    ...readOnlyFields,
  },
  { additionalProperties: false },
)

export const inviteUserSchema = Type.Object(
  {
    username: Type.Optional(Type.String({ description: 'The e-mail address if not given.' })),
    ...inputFields,
    email: Type.String({ description: 'Where the invitation is sent.' }),
  },
  { additionalProperties: false },
)

export const updateUserSchema = Type.Object(
  {
    username: Type.Optional(Type.String()),
    password: Type.Optional(password),
    current_password: Type.Optional(
      Type.String({ description: 'Required to change your own password or e-mail address.' }),
    ),
    is_service: Type.Optional(Type.Boolean({ description: 'As it is: it cannot be changed.' })),
    ...inputFields,
    ...readOnlyFields,
  },
  { additionalProperties: false, minProperties: 1 },
)

export const updateMeSchema = Type.Object(
  {
    ...ownFields,
    password: Type.Optional(password),
    current_password: Type.Optional(Type.String({ description: 'Required to change the password.' })),
  },
  { additionalProperties: false, minProperties: 1 },
)

const userRecord = Type.Object({
  _meta: metaSchema,
  username: Type.String(),
  email: nullableText,
  firstname: nullableText,
  lastname: nullableText,
  timezone: nullableText,
  language: nullableText,
  settings: Type.Optional(Type.Array(setting)),
  custom_scopes: Type.Optional(texts),
  groups: Type.Optional(texts),
  is_active: Type.Boolean(),
  is_service: Type.Optional(Type.Boolean({ description: 'Only of service accounts.' })),
  login_attempts: Type.Optional(
    Type.Integer({ description: 'Failed sign-ins in a row, from all networks.' }),
  ),
  locked_until: Type.Optional(
    Type.Integer({
      description: 'Unix seconds until which sign-ins from at least one network are refused; 0 = not locked.',
    }),
  ),
  last_activity: Type.Optional(Type.Integer({ description: 'Unix seconds.' })),
  invited_until: Type.Optional(
    Type.Integer({
      description:
        'Unix seconds until which an invited user can set a password. Only of users who have none yet.',
    }),
  ),
})
export type User = Wire<typeof userRecord>
export const userSchema = storedRecord(userRecord)

export const removedSchema = Type.Object({ guid: Type.String(), removed: Type.Literal(true) })

const userLogRecord = Type.Object({
  _meta: metaSchema,
  event: Type.Enum(
    [
      'sign_in',
      'sign_in_failed',
      'sign_out',
      'password_reset_sent',
      'password_set_by_link',
      'signed_up',
      'request',
      'lost',
    ],
    { description: '`lost`: `count` requests could not be recorded in time.' },
  ),
  user: Type.Unsafe<Actor | null>({
    type: ['object', 'null'],
    description: 'Null if no user has this name.',
    properties: { guid: { type: 'string' }, username: { type: 'string' } },
  }),
  ip: Type.Optional(Type.String()),
  agent: Type.Optional(Type.String({ description: 'The header `user-agent`.' })),
  method: Type.Optional(Type.String()),
  path: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'Path without the query. A list if several were requested within 0.2 s.',
    }),
  ),
  status: Type.Optional(Type.Integer()),
  milliseconds: Type.Optional(Type.Number({ description: 'Duration; of several requests the longest.' })),
  times: Type.Optional(
    Type.Integer({
      description: 'Number of requests with this user, method, status and address within 0.2 s.',
    }),
  ),
  count: Type.Optional(Type.Integer()),
  studio: Type.Optional(
    Type.Boolean({ description: 'Sent by the studio itself: it says so in a header, `x-quoin-studio`.' }),
  ),
})
export type UserLog = Wire<typeof userLogRecord>
export const userLogSchema = storedRecord(userLogRecord)

const scopes = Type.Array(Type.String(), { maxItems: 1000 })

const secondFactorDays = Type.Union([Type.Integer({ minimum: 0, maximum: 90 }), Type.Null()], {
  description:
    'Users of the group need a second factor from so many days after their next sign-in; 0 = at once, null = not required.',
})

const optional = {
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  scopes: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Every user of the group holds them. You can only grant scopes that you hold.',
    }),
  ),
  permissions: Type.Optional(Type.Array(Type.String(), { description: 'The same as `scopes`.' })),
  is_active: Type.Optional(Type.Boolean({ description: 'An inactive group grants no scopes.' })),
  second_factor_days: Type.Optional(secondFactorDays),
  _meta: Type.Optional(anyJson('Ignored.')),
}
const name = Type.String({ description: 'The group with this name.' })

export const createGroupSchema = Type.Object({ name, ...optional }, { additionalProperties: false })
export const updateGroupSchema = Type.Object(
  { name: Type.Optional(name), ...optional },
  { additionalProperties: false, minProperties: 1 },
)

const groupRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  description: Type.String(),
  scopes,
  is_active: Type.Boolean(),
  second_factor_days: secondFactorDays,
})
export type Group = Wire<typeof groupRecord>
export const groupSchema = storedRecord(groupRecord)
