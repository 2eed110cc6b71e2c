import Type, { type Static } from 'typebox'
import { SECRET_NAME } from '../../names/stored-names.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const secret = Type.String({ pattern: SECRET_NAME, description: 'Name of a secret.' })
const closed = { additionalProperties: false } as const
const httpAddress = Type.String({ pattern: '^https?://', maxLength: 2_000 })

/** How requests are signed in. The secret is named, never contained. */
export const connectionAuth = Type.Union([
  Type.Object({ kind: Type.Literal('none') }, closed),
  Type.Object({ kind: Type.Literal('bearer'), secret }, closed),
  Type.Object(
    { kind: Type.Literal('basic'), username: Type.String({ minLength: 1, maxLength: 200 }), secret },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal('header'),
      header: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9-]{0,99}$' }),
      secret,
    },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal('oauth2'),
      token_url: httpAddress,
      client_id: Type.String({ minLength: 1, maxLength: 500 }),
      secret,
      scope: Type.Optional(Type.String({ maxLength: 1_000 })),
    },
    { ...closed, description: 'OAuth 2 client credentials.' },
  ),
])
export type ConnectionAuth = Static<typeof connectionAuth>

const headers = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 2_000 }), {
  maxProperties: 50,
  description: 'Sent with each request. Not for secrets: every builder can read them.',
})
const input = {
  base_url: Type.String({
    pattern: '^https?://',
    maxLength: 2_000,
    description: 'Addresses of requests follow it; none leads elsewhere.',
  }),
  auth: Type.Optional(connectionAuth),
  headers: Type.Optional(headers),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
}

export const createConnectionSchema = Type.Object(
  {
    name: Type.String({
      pattern: SECRET_NAME,
      description:
        'Letters, digits and _; what pins of the type http_connection name. Does not change later.',
    }),
    ...input,
  },
  closed,
)
export const updateConnectionSchema = Type.Partial(Type.Object(input), { ...closed, minProperties: 1 })

const connectionRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  base_url: Type.String(),
  auth: connectionAuth,
  headers,
  description: Type.String(),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type ConnectionRecord = Wire<typeof connectionRecord>
export const connectionSchema = storedRecord(connectionRecord)

export const tryConnectionSchema = Type.Object(
  { path: Type.Optional(Type.String({ maxLength: 2_000, description: 'Below the base address.' })) },
  closed,
)
export const triedConnectionSchema = Type.Object({
  ok: Type.Boolean({ description: 'Whether the status code is from 200 to 299.' }),
  status: Type.Optional(Type.Integer({ description: 'Status code of the reply.' })),
  milliseconds: Type.Optional(Type.Number()),
  problem: Type.Optional(Type.String({ description: 'Why no reply came.' })),
})
export type TriedConnection = Static<typeof triedConnectionSchema>
