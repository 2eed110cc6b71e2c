import { Type } from 'typebox'
import { ENVIRONMENT_NAME } from '../../names/stored-names.ts'
import { actorSchema, anyJson, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

export const settingParams = Type.Object({
  name: Type.String({ description: 'The environment variable, such as `QUOIN_RATE_LIMIT`.' }),
})

export const setSettingSchema = Type.Object(
  {
    value: Type.String({
      maxLength: 1000,
      description: 'The text that the environment variable would have.',
    }),
  },
  { additionalProperties: false },
)

export const optionSettingSchema = Type.Object({
  name: Type.String({ description: 'The environment variable.' }),
  help: Type.String(),
  accepts: Type.String({ description: 'Which texts are accepted, in words.' }),
  changeable: Type.Boolean({ description: 'Whether it changes without a restart.' }),
  secret: Type.Boolean({ description: 'Its text is never shown.' }),
  source: Type.Enum(['environment', 'setting', 'default'], {
    description: 'Where its text comes from, on the node that replies. The environment overrides a setting.',
  }),
  value: Type.Union([Type.String(), Type.Null()], {
    description: 'The text that counts; null for a secret.',
  }),
  default: Type.String(),
  stored: Type.Union([Type.String(), Type.Null()], {
    description: 'The text of the setting, also where it does not count; null without one.',
  }),
})
export type OptionSetting = Wire<typeof optionSettingSchema>

const input = {
  value: anyJson('Any JSON, up to 16 KB. Not for secrets: every builder can read it.'),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
}

export const createEnvironmentValueSchema = Type.Object(
  {
    name: Type.String({
      pattern: ENVIRONMENT_NAME,
      description: 'Letters, digits and _; the `NAME` of `env.NAME` in expressions. Does not change later.',
    }),
    ...input,
  },
  { additionalProperties: false },
)
export const updateEnvironmentValueSchema = Type.Partial(Type.Object(input), {
  additionalProperties: false,
  minProperties: 1,
})

const environmentValueRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  value: anyJson(),
  description: Type.String(),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type EnvironmentValue = Wire<typeof environmentValueRecord>
export const environmentValueSchema = storedRecord(environmentValueRecord)
