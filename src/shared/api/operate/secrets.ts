import { type Static, Type } from 'typebox'
import { MAX_SECRET_BYTES, SECRET_NAME } from '../../names/stored-names.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const hosts = Type.Union([Type.Array(Type.String({ maxLength: 260 }), { maxItems: 20 }), Type.Null()], {
  description:
    'Hosts that it may be sent to: `api.example.com` (ports 443 and 80) or `api.example.com:8443`. An empty list: it is only compared. Null, the default: any server that a connection or an alert names.',
})
const input = {
  value: Type.String({
    minLength: 1,
    maxLength: MAX_SECRET_BYTES,
    description: 'The secret, up to 16 KB. Stored encrypted; no reply contains it.',
  }),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  hosts: Type.Optional(hosts),
}

export const createSecretSchema = Type.Object(
  {
    name: Type.String({
      pattern: SECRET_NAME,
      description: 'Letters, digits and _; what pins of the type secret name. Does not change later.',
    }),
    ...input,
  },
  { additionalProperties: false },
)
export const updateSecretSchema = Type.Partial(Type.Object(input), {
  additionalProperties: false,
  minProperties: 1,
})

const secretRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  description: Type.String(),
  hosts,
  sent_by: Type.Array(Type.String(), { description: 'Connections that send it, by name.' }),
  signs_in: Type.Array(Type.String(), {
    description: 'Sign-in providers whose client it is the secret of, by name.',
  }),
  readable: Type.Boolean({ description: 'Whether this node has the key that the value is encrypted with.' }),
  used_by: Type.Array(Type.Object({ guid: Type.String(), name: Type.String() }), {
    description: 'Active blueprints with a block that names the secret.',
  }),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type SecretRecord = Wire<typeof secretRecord>
export const secretSchema = storedRecord(secretRecord)

export const secretKeySchema = Type.Object({
  source: Type.Enum(['environment', 'file', 'none'], {
    description:
      'Where this node has the key that encrypts secrets from: `QUOIN_SECRETS_KEY`, the file `secrets.key` in the data folder of the embedded database, or nowhere.',
  }),
  problem: Type.Union([Type.String(), Type.Null()], {
    description: 'Why no secret can be set, and what to do; null where one can be.',
  }),
})
export type SecretKeyState = Static<typeof secretKeySchema>

export const rotatedSecretsSchema = Type.Object({
  rotated: Type.Integer({ description: 'Secrets that were encrypted again, with the present key.' }),
  unreadable: Type.Integer({ description: 'Secrets of which no key is set: they stay as they are.' }),
})

export const signRequestSchema = Type.Object(
  {
    blueprint: Type.String({ description: 'Guid of an active blueprint.' }),
    block: Type.String({ description: 'Guid of its block `check_signature`, as it is deployed.' }),
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: Type.String({ maxLength: 8192, description: 'Path and query, such as `/api/v1/hooks/payment`.' }),
    body: Type.Optional(Type.String({ description: 'The body as it will be sent.' })),
  },
  { additionalProperties: false },
)
export const signedRequestSchema = Type.Object({
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'To be sent with the request: the signature, and its time where the sender signs one.',
  }),
})
