import { Type } from 'typebox'
import { onDeletes } from '../../field-rule.ts'
import { itemTypes } from '../../fields/field-limits.ts'
import { fieldTypes, MOST_PLACES } from '../../fields/field-type.ts'
import { otherWords } from '../../fields/type-words.ts'
import { type CollationName, collations } from '../../texts/collations.ts'
import { actorSchema, anyJson, metaSchema, nullableText, storedRecord } from '../record-schemas.ts'
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
        description:
          'Digits after the decimal point that a `decimal` may have. Default: 2, or those of its currency.',
      }),
    ),
    currency: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: 3,
        description:
          'Makes a `decimal` an amount of money: the code of its currency (ISO 4217), such as EUR. Tables, forms, charts, mails and sheets show amounts in it. Documents store the number alone.',
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

const ignoreCase = Type.Boolean({
  description:
    'Texts that differ only in case are the same: in searches, filters, `contains`, references by value, and where the field is unique.',
})
const ignoreAccents = Type.Boolean({
  description:
    'Also those that differ only in accents, by the letters of `collation`: `sv` keeps å and a apart. Needs `ignore_case`.',
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
  ignore_case: Type.Optional(ignoreCase),
  ignore_accents: Type.Optional(ignoreAccents),
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

const choice = Type.Union([Type.String({ maxLength: 1000 }), Type.Number()])

const changes = {
  name: Type.Optional(name),
  type: Type.Optional(writtenType),
  ...optional,
  renamed_values: Type.Optional(
    Type.Array(Type.Object({ from: choice, to: choice }, { additionalProperties: false }), {
      minItems: 1,
      maxItems: 1000,
      description:
        'Choices that have another name now: stored values follow. Each `to` is one of the new `choices`, no `from` is.',
    }),
  ),
  misfits: Type.Optional(
    Type.Object(
      {
        value: Type.Optional(anyJson('Stored in place of a value that does not fit. Default: null.')),
        keep_in: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: 'A field without values, which keeps the former value.',
          }),
        ),
      },
      {
        additionalProperties: false,
        description: 'What happens to stored values that do not fit. Without it, such a change is refused.',
      },
    ),
  ),
}
export const updateFieldSchema = Type.Object(changes, { additionalProperties: false, minProperties: 1 })
export const checkFieldSchema = Type.Object(changes, { additionalProperties: false })

const fieldUse = Type.Object({
  kind: Type.Enum(['blueprint', 'field', 'storage', 'view'], {
    description:
      '`field`: `computed` or `default_expression` reads it. `storage`: a rule or constraint reads it.',
  }),
  guid: Type.String(),
  name: Type.String(),
})
const usedBy = Type.Array(fieldUse, {
  maxItems: 100,
  description:
    'What names the field. Expressions of fields and rules of storages follow a rename; blueprints and views have to be changed.',
})

export const checkedFieldSchema = Type.Object({
  documents: Type.Integer({ description: 'Documents that have a value of the field.' }),
  converted: Type.Integer({ description: 'How many of them get another value.' }),
  misfits: Type.Object({
    total: Type.Integer({ description: 'How many documents do not fit.' }),
    documents: Type.Array(
      Type.Object({ guid: Type.String(), value: Type.Optional(anyJson()), problem: Type.String() }),
      { maxItems: 100, description: 'The first 100 of them, as far as the caller may see them.' },
    ),
  }),
  used_by: usedBy,
})
export type CheckedField = Wire<typeof checkedFieldSchema>

const migration = Type.Union(
  [
    Type.Object({
      step: Type.Enum(['copy', 'clear', 'convert', 'prepare'], {
        description:
          '`copy`: values are copied to the new name, and the former one counts. `clear`: the new name counts, and values are removed from the former one. `convert`: values are converted. `prepare`: documents get the values that a release needs, ahead of it.',
      }),
      field: Type.String({ description: 'The other name, or the name of the field that is converted.' }),
      job: Type.String({ description: 'The guid of the job. `GET /queue/{guid}` has its progress.' }),
      documents: Type.Integer({ description: 'Documents that follow.' }),
      stopped: Type.Boolean({
        description:
          'The job has ended, and documents were refused: its progress names them. The same change again continues.',
      }),
      held_for: Type.Optional(
        Type.String({ description: 'Of `copy` and `prepare`: the application whose release takes them.' }),
      ),
      copied: Type.Optional(
        Type.Boolean({ description: 'All documents have the value, until that release.' }),
      ),
    }),
    Type.Null(),
  ],
  { description: 'A change that stored documents are following at the moment.' },
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
  ignore_case: Type.Optional(ignoreCase),
  ignore_accents: Type.Optional(ignoreAccents),
  computed: Type.Optional(nullableText),
  default_expression: Type.Optional(nullableText),
  visible_to: Type.Optional(nullableText),
  settable_by: Type.Optional(nullableText),
  migration: Type.Optional(migration),
  former_names: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Names that the field had. Removed documents get its value from there when they are restored.',
    }),
  ),
  used_by: Type.Optional(usedBy),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type FieldRecord = Wire<typeof fieldRecord>
export const fieldSchema = storedRecord(fieldRecord)

export const filledSchema = Type.Object({
  job: Type.String({ description: 'The guid of the job.' }),
  count: Type.Integer({ description: 'How many documents it goes through.' }),
})
