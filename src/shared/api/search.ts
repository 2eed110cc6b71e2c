import { type Static, Type } from 'typebox'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const scalars = Type.Array(scalar, { maxItems: 1000 })
const bound = Type.Union([Type.String(), Type.Number()])

const filterSchema = Type.Union([
  scalar,
  scalars,
  Type.Object(
    {
      gte: Type.Optional(bound),
      gt: Type.Optional(bound),
      lte: Type.Optional(bound),
      lt: Type.Optional(bound),
      exists: Type.Optional(Type.Boolean()),
      not: Type.Optional(Type.Union([scalar, scalars])),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
])

export type Filter = Static<typeof filterSchema>

/** The body of every `…/search`. */
export const searchSchema = Type.Object(
  {
    query: Type.Optional(
      Type.String({
        maxLength: 10_000,
        description: 'Free text: `invoice -draft`, `"exact words"`, `begin*`, `this | that`.',
      }),
    ),
    filters: Type.Optional(
      Type.Record(Type.String({ maxLength: 256 }), filterSchema, {
        maxProperties: 100,
        description:
          'Field → value, list of values, or `{ gte, gt, lte, lt, exists, not }`. All of them must hold.',
      }),
    ),
    sort: Type.Optional(
      Type.Array(
        Type.Record(Type.String({ maxLength: 256 }), Type.Enum(['asc', 'desc']), {
          minProperties: 1,
          maxProperties: 1,
        }),
        {
          maxItems: 16,
          description: 'For example `[{ "_meta.created": "desc" }]`. Newest first if not given.',
        },
      ),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
    count: Type.Optional(Type.Boolean({ description: 'Reply `{ count }` instead of the records.' })),
    after: Type.Optional(
      Type.String({ maxLength: 10_000, description: 'The header `x-next-cursor` of the previous page.' }),
    ),
  },
  { additionalProperties: false },
)

export type SearchBody = Static<typeof searchSchema>

/** The same for searches by GET: `filters` and `sort` are JSON text. */
export const searchQuerySchema = Type.Object(
  {
    query: Type.Optional(Type.String({ maxLength: 10_000 })),
    filters: Type.Optional(
      Type.String({ maxLength: 10_000, description: 'JSON, as in the body of a search.' }),
    ),
    sort: Type.Optional(Type.String({ maxLength: 10_000, description: 'JSON, as in the body of a search.' })),
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
    count: Type.Optional(Type.Boolean()),
    after: Type.Optional(Type.String({ maxLength: 10_000 })),
  },
  { additionalProperties: false },
)

export type SearchQuery = Static<typeof searchQuerySchema>

export const countSchema = Type.Object({ count: Type.Integer() })
