import { Type } from 'typebox'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const part = Type.Optional(Type.String({ maxLength: 262_144 }))
const input = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  content: part,
  css: part,
  js: part,
}

export const createTemplateSchema = Type.Object(input, { additionalProperties: false })
export const updateTemplateSchema = Type.Partial(Type.Object(input), {
  additionalProperties: false,
  minProperties: 1,
})

const templateRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  description: Type.String(),
  content: Type.String({
    description:
      'JSON: layout, width, brand, navigation, footer, tokens, words, language, direction, account.',
  }),
  css: Type.String(),
  js: Type.String(),
  created_by: actorSchema,
  last_modified_by: actorSchema,
  problems: Type.Optional(
    Type.Array(Type.String(), { description: 'Parts that pages ignore, and why. Not in lists.' }),
  ),
})
export type Template = Wire<typeof templateRecord>
export const templateSchema = storedRecord(templateRecord)
