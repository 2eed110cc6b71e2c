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
      contains: Type.Optional(Type.String({ maxLength: 1_000 })),
      starts_with: Type.Optional(Type.String({ maxLength: 1_000 })),
      exists: Type.Optional(Type.Boolean()),
      not: Type.Optional(Type.Union([scalar, scalars])),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
])

export type Filter = Static<typeof filterSchema>

/** Which page of a list: of every search, and of lists with filters of their own. `most`: records of one page. */
export function pageParameters(most: number) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: most, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
    after: Type.Optional(
      Type.String({ maxLength: 10_000, description: 'The header `x-next-cursor` of the previous page.' }),
    ),
  }
}

const { limit, offset, after } = pageParameters(1000)

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
          'Field → value, list of values, or `{ gte, gt, lte, lt, contains, starts_with, exists, not }`. All of them must hold. `contains` and `starts_with` look into a text, whatever the case of its letters is.',
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
    limit,
    offset,
    count: Type.Optional(Type.Boolean({ description: 'Reply `{ count }` instead of the records.' })),
    after,
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
    limit,
    offset,
    count: Type.Optional(Type.Boolean()),
    after,
  },
  { additionalProperties: false },
)

export type SearchQuery = Static<typeof searchQuerySchema>

export const countSchema = Type.Object({ count: Type.Integer() })
