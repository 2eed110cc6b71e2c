import { type Static, Type } from 'typebox'

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
  times: Type.Integer({ description: 'How often it was slow.' }),
  milliseconds: Type.Number({ description: 'Of the slowest.' }),
  rows: Type.Integer({ description: 'How many documents the slowest had to read, at most.' }),
  first: Type.Integer({ description: 'Unix seconds.' }),
  last: Type.Integer({ description: 'Unix seconds.' }),
  index: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The fields of the index that would help, in order. Null: none over fields does.',
  }),
  text_index: Type.Boolean({ description: 'Whether an index of free text would help.' }),
  brought_by: Type.Array(Type.Object({ guid: Type.String(), name: Type.String() }), {
    description: 'Active blueprints that ask for that index already: deploying one of them again makes it.',
  }),
  why: Type.String(),
  how: Type.String({ description: 'What to do about it.' }),
})

export type SlowSearchRecord = Static<typeof slowSearchSchema>

export const storageAdviceSchema = Type.Object({
  indexes: Type.Array(Type.Object({ fields: Type.Array(Type.String()), unique: Type.Boolean() }), {
    description: 'Those that are there, besides newest first and by guid.',
  }),
  text_index: Type.Boolean(),
  searches: Type.Array(slowSearchSchema, {
    description: 'That were slow since this process started, the slowest first.',
  }),
})

export type StorageAdvice = Static<typeof storageAdviceSchema>
