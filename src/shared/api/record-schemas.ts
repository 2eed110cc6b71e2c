import { type TSchema, Type } from 'typebox'
import { type ErrorCode, errorTable } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Wire } from './wire.ts'

/** The user who did something, as records and logs name them; `system` with an empty guid where no user did it. */
export const actorSchema = Type.Object({ guid: Type.String(), username: Type.String() })
export type Actor = Wire<typeof actorSchema>

/** The envelope of every record; see `shared/meta.ts`. */
export const metaSchema = Type.Object({
  guid: Type.String({ description: 'Never changes; sorts by creation.' }),
  entity: Type.Integer({ description: 'Cluster number.' }),
  created: Type.Integer({ description: 'Unix seconds.' }),
  updated: Type.Integer({ description: 'Unix seconds.' }),
  cms: Type.Integer({ description: 'Created, in milliseconds.' }),
  ums: Type.Integer({ description: 'Updated, in milliseconds.' }),
  removed: Type.Integer({ description: 'Unix seconds of the soft delete; 0 = present.' }),
  expiry: Type.Integer({ description: 'Unix seconds at which it is purged; -1 = never.' }),
  update_hash: Type.String({ description: 'Changes with each modification.' }),
})
export type Meta = Wire<typeof metaSchema>

/** `{guid}` in a path. Any text: what is no guid is simply not found. */
export const guidParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the record.' }),
})

/** Text or null. One schema with two types: as a union, each reply would be checked before it is written. */
export const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] })

/**
 * The schema of a record that comes out of a storage. For a route it is a JSON object, of which the reply contains the
 * declared fields and no others. Clients use the static type of the schema that is given here.
 */
export function storedRecord(schema: TSchema) {
  return Type.Unsafe<JsonObject>(schema)
}

/** Any JSON value, with its type. */
export function anyJson(description?: string) {
  return Type.Unsafe<JsonValue>(description === undefined ? {} : { description })
}

/** JSON of a known type that is sent as it is stored: no reply is checked against the type. */
export function typedJson<T>(description: string) {
  return Type.Unsafe<T>({ description })
}

const codes = Object.keys(errorTable) as ErrorCode[]

/** The body of every error of a management endpoint. Custom endpoints answer `{ error: "short message", fields: { name: reason } }`. */
export const errorSchema = Type.Object(
  {
    error: Type.Enum(codes, { description: 'Error code. Its meaning never changes.' }),
    code: Type.Integer({ description: 'The HTTP status.' }),
    message: Type.String({ description: 'What is wrong, where, and what to do.' }),
    fields: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Fields of the body, dotted, or parameters of the query to change. With INVALID_BODY and INVALID_QUERY, and with CONFLICT if a unique value is taken.',
      }),
    ),
    problems: Type.Optional(
      Type.Array(
        Type.Object({ block: Type.String(), pin: Type.Optional(Type.String()), message: Type.String() }),
        { description: 'Problems of the blueprint. Only with VALIDATION_FAILED.' },
      ),
    ),
    details: Type.Optional(
      Type.Record(Type.String(), anyJson(), {
        description:
          'More about it, by the operation: which documents stand in the way, for example. With CONFLICT and FLOW_FAILED.',
      }),
    ),
    request: Type.Optional(Type.String({ description: 'Id of the request in the log. Only with INTERNAL.' })),
  },
  { $id: 'Error' },
)
