import { Type } from 'typebox'

/** Tools of one page. */
export const MOST_TOOLS = 100

export const toolPageQuery = Type.Object({
  after: Type.Optional(
    Type.String({ maxLength: 64, description: 'Name of the last tool of the page before.' }),
  ),
})

export const toolPageSchema = Type.Object({
  tools: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      input: Type.Unknown({ description: 'JSON Schema of the arguments.' }),
      read_only: Type.Boolean({ description: 'Whether it is an endpoint that is called by GET.' }),
    }),
  ),
  next: Type.Optional(Type.String({ description: 'Where there are more: `after` of the next page.' })),
})

export const toolParams = Type.Object({ name: Type.String({ maxLength: 64 }) })

export const callToolSchema = Type.Object(
  { arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'By name.' })) },
  { additionalProperties: false },
)

export const toolResultSchema = Type.Object({
  status: Type.Integer({ description: 'Of an endpoint, what it replied; of a function 200.' }),
  text: Type.String({ description: 'JSON or text, at most 65,536 characters.' }),
  whole: Type.Boolean({ description: 'false: the text is only the beginning.' }),
})
