import { Type } from 'typebox'
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
