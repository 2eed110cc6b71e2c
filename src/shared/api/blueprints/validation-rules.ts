import { Type } from 'typebox'
import type { JsonObject } from '../../json.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const input = {
  rule_type: Type.String({
    minLength: 1,
    maxLength: 100,
    description: '`required_scope`, `forbidden_block`, `naming` or `max_blocks`.',
  }),
  parameters: Type.Unsafe<JsonObject>({
    type: 'object',
    description:
      '`required_scope`: `{ methods?, scope? }`. `forbidden_block`: `{ type }`. `naming`: `{ target: "blueprint" | "uri" | "storage" | "block_title", pattern }`. `max_blocks`: `{ max }`.',
  }),
  message: Type.Optional(Type.String({ maxLength: 1000, description: 'Shown when the rule is violated.' })),
  severity: Type.Optional(
    Type.Enum(['error', 'warning', 'info'], {
      description: '`error` (default) refuses the deploy; the others write to the system log.',
    }),
  ),
}

export const createValidationRuleSchema = Type.Object(input, { additionalProperties: false })
export const updateValidationRuleSchema = Type.Partial(Type.Object(input), {
  additionalProperties: false,
  minProperties: 1,
})

export const updateHashParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the record.' }),
  updatehash: Type.String({ description: 'The `_meta.update_hash` that the record must still have.' }),
})

const validationRuleRecord = Type.Object({
  _meta: metaSchema,
  rule_type: Type.String(),
  parameters: Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true }),
  message: Type.String(),
  severity: Type.String(),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type ValidationRule = Wire<typeof validationRuleRecord>
export const validationRuleSchema = storedRecord(validationRuleRecord)
