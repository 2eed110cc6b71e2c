/** Blocks of the file format, as most scenarios need them. */
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'

type Verb = 'get' | 'post' | 'put' | 'delete'

/** A trigger, public unless scopes are given. */
export const on = (verb: Verb, uri: string, scopes: readonly string[] = ['*public']): JsonObject => ({
  type: `on_startup_register_uri_${verb}`,
  in: { uri },
  scopes,
})

export const reply = (flow: string, value: JsonValue, code = 200): JsonObject => ({
  type: 'httpconnection_set_json',
  in: { flow, value, code },
})

export const storage = (name: string): JsonObject => ({ type: 'storage', fields: { storage: name } })

/** A parameter of the query or the path. */
export const param = (field: string): JsonObject => ({ type: 'httpconnection_get_params', in: { field } })

/** An object of these fields. */
export const object = (pins: JsonObject): JsonObject => ({
  type: 'object_new_fields',
  fields: { fields: Object.keys(pins) },
  in: pins,
})

/** Reads fields of an object. */
export const fields = (of: string, ...names: readonly string[]): JsonObject => ({
  type: 'object_update_fields',
  fields: { out_fields: names },
  in: { object: of },
})

/** Sets all fields of an object. */
export const setAll = (of: string): JsonObject => ({
  type: 'mutations_set_bp_field_multiple',
  in: { object: of },
})

export const setOne = (field: string, value: JsonValue): JsonObject => ({
  type: 'mutations_set_custom_field',
  in: { field, value },
})

/** A flow block on the storage block that is called `store`. */
export const onStore = (type: string, flow: string, pins: JsonObject): JsonObject => ({
  type,
  in: { flow, storage: '@store.storage', ...pins },
})

export const create = (flow: string, mutations: string): JsonObject =>
  onStore('function_create_document_from_mutations', flow, { mutations })
