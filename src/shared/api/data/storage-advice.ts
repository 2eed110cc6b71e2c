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
