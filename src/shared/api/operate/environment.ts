import { Type } from 'typebox'
import { ENVIRONMENT_NAME } from '../../names/environment-name.ts'
import { actorSchema } from '../actor.ts'
import { anyJson } from '../any-json.ts'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

const given = {
  value: anyJson('Any JSON, up to 16 KB. Not for secrets: every builder can read it.'),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
}

export const createEnvironmentValueSchema = Type.Object(
  {
    name: Type.String({
      pattern: ENVIRONMENT_NAME,
      description: 'Letters, digits and _; the `NAME` of `env.NAME` in expressions. Does not change later.',
    }),
    ...given,
  },
  { additionalProperties: false },
)
export const updateEnvironmentValueSchema = Type.Partial(Type.Object(given), {
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
