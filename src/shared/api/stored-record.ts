import { type TSchema, Type } from 'typebox'
import type { JsonObject } from '../json.ts'

/**
 * The schema of a record that comes out of a storage. For a route it is a JSON object, of which the reply contains the
 * declared fields and no others. Clients use the static type of the schema that is given here.
 */
export function storedRecord(schema: TSchema) {
  return Type.Unsafe<JsonObject>(schema)
}
