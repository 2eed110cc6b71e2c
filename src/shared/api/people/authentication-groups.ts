import { Type } from 'typebox'
import { anyJson } from '../any-json.ts'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

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
