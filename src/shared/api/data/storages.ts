import { type Static, Type } from 'typebox'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
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

const sortSchema = Type.Object({ field: Type.String(), order: Type.Enum(['asc', 'desc']) })

const slowSearchSchema = Type.Object({
  kind: Type.Enum(['find', 'count']),
  filter: Type.String({
    description:
      'Fields and operators, never values: `country = ? and population > ?`. Empty: all documents.',
  }),
  sort: Type.Union([Type.Array(sortSchema), Type.Null()], {
    description: 'Empty: newest first. Null: by relevance, or a count.',
  }),
  times: Type.Integer({ description: 'Number of slow executions.' }),
  milliseconds: Type.Number({ description: 'Duration of the slowest.' }),
  rows: Type.Integer({ description: 'Upper bound of documents read by the slowest.' }),
  first: Type.Integer({ description: 'Unix seconds.' }),
  last: Type.Integer({ description: 'Unix seconds.' }),
  index: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'Fields of the index that would help, in order. Null: no index over fields helps.',
  }),
  text_index: Type.Boolean({ description: 'Whether an index of free text would help.' }),
  brought_by: Type.Array(Type.Object({ guid: Type.String(), name: Type.String() }), {
    description: 'Active blueprints that already need that index: deploying one of them again creates it.',
  }),
  why: Type.String(),
  how: Type.String({ description: 'Recommended action.' }),
})

export type SlowSearchRecord = Static<typeof slowSearchSchema>

export const storageAdviceSchema = Type.Object({
  indexes: Type.Array(Type.Object({ fields: Type.Array(Type.String()), unique: Type.Boolean() }), {
    description: 'Existing indexes, besides newest first and by guid.',
  }),
  text_index: Type.Boolean(),
  searches: Type.Array(slowSearchSchema, {
    description: 'Slow searches since this node started, slowest first.',
  }),
})

export type StorageAdvice = Static<typeof storageAdviceSchema>

export const textIndexSchema = Type.Object({ text_index: Type.Literal(true) })

export const preparationSchema = Type.Object(
  {
    storage: Type.String({ description: 'Its name.' }),
    kind: Type.Union([Type.Literal('index'), Type.Literal('text'), Type.Literal('columns')], {
      description: '`columns`: values of indexed fields move to columns, in the background.',
    }),
    done: Type.Integer({
      description: 'Documents (free text, columns) or blocks of the table (index) so far.',
    }),
    total: Type.Integer({ description: 'Estimated total; 0 while it is unknown.' }),
  },
  { description: 'An index, free text or columns that a storage with many documents gets.' },
)

export type PreparationRecord = Static<typeof preparationSchema>
