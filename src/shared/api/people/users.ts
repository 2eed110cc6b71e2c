import { Type } from 'typebox'
import { anyJson } from '../any-json.ts'
import { metaSchema } from '../meta.ts'
import { nullableText } from '../nullable-text.ts'
import { storedRecord } from '../stored-record.ts'
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

const givenFields = {
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
  { username: Type.String(), password, ...givenFields, ...readOnlyFields },
  { additionalProperties: false },
)

export const inviteUserSchema = Type.Object(
  {
    username: Type.Optional(Type.String({ description: 'The e-mail address if not given.' })),
    ...givenFields,
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
    ...givenFields,
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
