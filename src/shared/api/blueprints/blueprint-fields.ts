import { Type } from 'typebox'
import { onDeletes } from '../../field-rule.ts'
import { itemTypes } from '../../fields/field-limits.ts'
import { fieldTypes, MOST_PLACES } from '../../fields/field-type.ts'
import { otherWords } from '../../fields/type-words.ts'
import { type CollationName, collations } from '../../texts/text-order.ts'
import { actorSchema } from '../actor.ts'
import { anyJson } from '../any-json.ts'
import { metaSchema } from '../meta.ts'
import { nullableText } from '../nullable-text.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

const bound = Type.Union([Type.Number(), Type.String({ maxLength: 64 })])
const length = Type.Integer({ minimum: 0, maximum: 1_000_000 })

const validationRules = Type.Object(
  {
    min: Type.Optional(bound),
    max: Type.Optional(bound),
    min_length: Type.Optional(length),
    max_length: Type.Optional(length),
    pattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          'An RE2 regular expression that must match a part of the text; use `^` and `$` to match all of it. Texts with a pattern have at most 4,000 characters, fewer where the pattern is large.',
      }),
    ),
    choices: Type.Optional(
      Type.Array(Type.Union([Type.String({ maxLength: 1000 }), Type.Number()]), {
        minItems: 1,
        maxItems: 1000,
      }),
    ),
    places: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MOST_PLACES,
        description: 'Digits after the decimal point that a `decimal` may have. Default: 2.',
      }),
    ),
    start: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000_000,
        description:
          'The first number that an `autonumber` gives. Default: 1. A larger one that is set later raises the next number.',
      }),
    ),
    items: Type.Optional(Type.Enum([...itemTypes], { description: 'The type of each item of a `list`.' })),
  },
  { additionalProperties: false },
)

const keyName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,62}$' })

const unique = Type.Union(
  [
    Type.Boolean(),
    keyName,
    Type.Object(
      {
        with: Type.Optional(keyName),
        ignore_case: Type.Optional(Type.Boolean()),
        ignore_accents: Type.Optional(Type.Boolean()),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  {
    description:
      'No two documents of the storage hold the same value; removed ones do not count, nor those where it is missing or null. A name: the fields that have the same name are unique together. As an object, `with` is that name, and `ignore_case` and `ignore_accents` say which texts are the same.',
  },
)

const reference = Type.Union(
  [
    Type.Object(
      {
        storage: Type.String({ maxLength: 63, description: 'The storage whose documents it refers to.' }),
        on_delete: Type.Optional(
          Type.Enum([...onDeletes], {
            description:
              'What removing or deleting that document does: `refuse` (the default) is 409 while documents refer to it, `clear` sets the field to null, `delete` removes or deletes the documents that refer to it too.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  {
    description:
      'The field holds the guid of a present document of a storage, or nothing. Needs `storage` and the type `reference` or `string`.',
  },
)

const collation = Type.Unsafe<CollationName | null>({
  enum: [...collations, null],
  description:
    'The order of lists by this text: that of a language (`sv`: å behind z), `und` for accents and case after letters, which is the default, or `binary` for code points.',
})

const name = Type.String({ minLength: 1, maxLength: 256, description: 'Use dots for nested fields.' })
const writtenType = Type.Enum([...fieldTypes, ...otherWords(fieldTypes)], {
  description:
    'Words of schemas, such as `text` and `whole number`, are stored as those of fields: `string`, `integer`.',
})
const expression = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1, maxLength: 2_000, description })

const optional = {
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  blueprint_guid: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The blueprint that it was created for.',
    }),
  ),
  storage: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'Storage that has this field. If empty, the rules apply to this field name in every storage, and documents may omit it.',
    }),
  ),
  required: Type.Optional(
    Type.Boolean({ description: 'Required in new documents; it cannot be set empty.' }),
  ),
  default_value: Type.Optional(
    anyJson(
      'Default value for new documents that omit the field; null for none. Used only if the field names a storage.',
    ),
  ),
  validation_rules: Type.Optional(validationRules),
  metadata: Type.Optional(Type.Record(Type.String(), anyJson(), { maxProperties: 100 })),
  unique: Type.Optional(unique),
  label: Type.Optional(
    Type.String({ maxLength: 200, description: 'For people. Empty: made from the name, as in forms.' }),
  ),
  help: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'One sentence for those who fill it in.' }),
  ),
  order: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['number', 'null'],
      description: 'Fields with smaller numbers come first, those without one last.',
    }),
  ),
  reference: Type.Optional(reference),
  collation: Type.Optional(collation),
  computed: Type.Optional(
    expression(
      'An expression over `doc`, such as `doc.price * doc.quantity`: each write stores its result, and replaces what was sent for the field.',
    ),
  ),
  default_expression: Type.Optional(
    expression(
      'An expression for new documents that omit the field. It may use `doc`, `user`, the clock and random values.',
    ),
  ),
  visible_to: Type.Optional(
    expression(
      'An expression over `user`, such as `contains(user.scopes, "hr")`: only users for whom it is true see the field, filter by it and sort by it. Setting it needs the scope `storages_rules`.',
    ),
  ),
  settable_by: Type.Optional(
    expression(
      'An expression over `user`: only users for whom it is true may set the field. Setting it needs the scope `storages_rules`.',
    ),
  ),
}

export const createFieldSchema = Type.Object(
  { name, type: writtenType, ...optional },
  { additionalProperties: false },
)
export const updateFieldSchema = Type.Object(
  { name: Type.Optional(name), type: Type.Optional(writtenType), ...optional },
  { additionalProperties: false, minProperties: 1 },
)

const fieldRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  type: Type.String(),
  description: Type.String(),
  blueprint_guid: nullableText,
  storage: nullableText,
  required: Type.Boolean(),
  default_value: anyJson(),
  validation_rules: anyJson(),
  metadata: anyJson(),
  unique: Type.Optional(unique),
  label: Type.Optional(Type.String()),
  help: Type.Optional(Type.String()),
  order: Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'] })),
  reference: Type.Optional(reference),
  collation: Type.Optional(collation),
  computed: Type.Optional(nullableText),
  default_expression: Type.Optional(nullableText),
  visible_to: Type.Optional(nullableText),
  settable_by: Type.Optional(nullableText),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type FieldRecord = Wire<typeof fieldRecord>
export const fieldSchema = storedRecord(fieldRecord)

export const filledSchema = Type.Object({
  job: Type.String({ description: 'The guid of the job.' }),
  count: Type.Integer({ description: 'How many documents it goes through.' }),
})
