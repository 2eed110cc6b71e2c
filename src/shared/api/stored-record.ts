import { type TSchema, Type } from 'typebox'
import type { JsonObject } from '../json.ts'

/**
 * The schema of a record that comes out of a storage. The compiler knows such a record only as a JSON object; what is
 * sent of it is what the schema declares, and nothing else.
 */
export function storedRecord(schema: TSchema) {
  return Type.Unsafe<JsonObject>(schema)
}
