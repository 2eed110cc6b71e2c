import { Type } from 'typebox'
import { actorSchema } from '../actor.ts'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

const description = Type.Optional(Type.String({ maxLength: 10_000 }))
const history = Type.Optional(
  Type.Boolean({
    description: 'Record the changes of every later write of a document. Default: off.',
  }),
)

const closed = Type.Optional(
  Type.Boolean({
    description:
      'Documents have only the fields of the storage: a write of another one is refused. Stored documents are not changed. Default: false.',
  }),
)

const rule = (description: string) =>
  Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1, maxLength: 2_000, description }),
  )

const rules = Type.Union(
  [
    Type.Object(
      {
        see: rule(
          'Which documents a user sees: an expression as in `where`, such as `doc.owner == user.guid`.',
        ),
        create: rule('What a user may create: checked on the new document.'),
        change: rule('What a user may change: checked on the document before and after.'),
        remove: rule('What a user may remove, restore and delete.'),
      },
      { additionalProperties: false },
    ),
    Type.Null(),
  ],
  {
    description:
      'Who may do what with the documents: expressions over `doc` and `user` (`guid`, `username`, `groups`, `scopes`). What has no rule is allowed to all who reach the documents. Replaced as a whole; null removes all rules. Setting them needs the scope `storages_rules`, whose holders are not bound by them.',
  },
)

const constraints = Type.Array(
  Type.Object(
    {
      rule: Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'A condition over `doc` that holds for each document, such as `doc.end >= doc.start`.',
      }),
      message: Type.String({ minLength: 1, maxLength: 500, description: 'Shown when it does not hold.' }),
      field: Type.Optional(
        Type.String({ maxLength: 256, description: 'The field at which the message is shown.' }),
      ),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 20,
    description:
      'Conditions between fields that bind every writer, administrators too. Checked by each write that touches a field that they read; a field that is empty breaks none. Replaced as a whole.',
  },
)

export const createStorageSchema = Type.Object(
  {
    name: Type.String({
      description: '1 to 63 characters: a to z, 0 to 9, _ and -, the first a letter. It cannot be changed.',
    }),
    description,
    history,
    closed,
    rules: Type.Optional(rules),
    constraints: Type.Optional(constraints),
  },
  { additionalProperties: false },
)

export const updateStorageSchema = Type.Object(
  { description, history, closed, rules: Type.Optional(rules), constraints: Type.Optional(constraints) },
  { additionalProperties: false, minProperties: 1 },
)

const storageRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  description: Type.String(),
  history: Type.Boolean(),
  closed: Type.Boolean(),
  rules,
  constraints,
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type StorageRecord = Wire<typeof storageRecord>
export const storageSchema = storedRecord(storageRecord)
