import { type Static, Type } from 'typebox'
import { type Actor, actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const texts = Type.Array(Type.String())

const input = {
  scopes: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description:
        'Scopes of the key. At each request it has those that its owner holds at that moment. `*`: everything that the owner holds.',
    }),
  ),
  endpoints: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 50,
      description:
        'What the key may call: `GET /api/v1/tasks`, or a path alone for every method. `{name}` is any one segment, `/*` at the end everything below. Empty: every endpoint.',
    }),
  ),
  expiry: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Unix seconds from which the key is refused; 0 = never.' }),
  ),
}

const name = Type.String({ description: 'Unique among the keys of the user; at most 100 characters.' })

export const createApiKeySchema = Type.Object({ name, ...input }, { additionalProperties: false })
export const updateApiKeySchema = Type.Object(
  { name: Type.Optional(name), ...input },
  { additionalProperties: false, minProperties: 1 },
)
export const rotateApiKeySchema = Type.Object(
  {
    overlap: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 7_776_000,
        default: 86_400,
        description: 'Seconds for which the secret of before stays valid. 0: it is refused at once.',
      }),
    ),
    expiry: input.expiry,
  },
  { additionalProperties: false },
)
export type ApiKeyInput = Static<typeof createApiKeySchema>

const fields = {
  _meta: metaSchema,
  name: Type.String(),
  user_guid: Type.String({ description: 'The owner.' }),
  hint: Type.String({ description: 'The first characters of the key.' }),
  scopes: texts,
  endpoints: texts,
  expiry: Type.Integer({ description: 'Unix seconds; 0 = never.' }),
  previous_until: Type.Integer({
    description: 'Unix seconds until which the secret before the last rotation is valid; 0 = it is not.',
  }),
  last_used: Type.Integer({ description: 'Unix seconds, to the minute; 0 = never.' }),
  created_by: Type.Unsafe<Actor>(actorSchema),
}
const apiKeyRecord = Type.Object(fields)
export type ApiKey = Wire<typeof apiKeyRecord>
export const apiKeySchema = storedRecord(apiKeyRecord)

const shownApiKey = Type.Object({
  ...fields,
  key: Type.String({ description: 'The key. It is shown only in this reply.' }),
})
export type ShownApiKey = Wire<typeof shownApiKey>
export const shownApiKeySchema = storedRecord(shownApiKey)

/** `{key}` beside `{guid}` in a path. */
export const apiKeyParams = Type.Object({
  key: Type.String({ description: 'The `_meta.guid` of the API key.' }),
})
export const apiKeyOfUserParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the user.' }),
  key: Type.String({ description: 'The `_meta.guid` of the API key.' }),
})
