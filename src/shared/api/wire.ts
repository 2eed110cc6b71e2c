import type { Static, TSchema } from 'typebox'
import type { JsonObject } from '../json.ts'

/** The type of a record that comes over the wire, read-only at every depth: who reads it cannot change it by accident. */
export type Wire<S extends TSchema> = Frozen<Static<S>>

/** JSON of any shape is read-only already, and would be followed without end. */
type Frozen<T> = [JsonObject] extends [T] ? T : { readonly [K in keyof T]: Frozen<T[K]> }
