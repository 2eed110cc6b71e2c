/**
 * Unique keys: fields of a storage whose values are unique together among its present documents.
 *
 * Each document has at most one value of a key: what the fields hold, folded as the key says, and hashed. A document in
 * which one of the fields is missing or null has none and never collides. The engines keep a table for each key, with a
 * row for each document that has a value and the value as primary key; a write of a document writes its rows in the same
 * transaction. Nothing is folded in a database, so both engines agree on what is the same.
 */
import { hash } from 'node:crypto'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonObject } from '../../shared/json.ts'
import { type Folding, foldedValue } from './folded-value.ts'

export interface UniqueField extends Folding {
  /** Dotted, as in documents. */
  readonly name: string
}

export interface UniqueKey {
  /** Unique in its storage. */
  readonly name: string
  readonly fields: readonly UniqueField[]
}

/** 132 bits, as text. */
const LENGTH = 22

/** The document's value of the key; undefined when one of the fields is nothing. */
export function keyValue({ fields }: UniqueKey, document: JsonObject): string | undefined {
  const values: unknown[] = []
  for (const field of fields) {
    const value = valueAt(document, parseFieldPath(field.name))
    if (value === undefined || value === null) return undefined
    values.push(foldedValue(value, field))
  }
  return hash('sha256', JSON.stringify(values), 'base64url').slice(0, LENGTH)
}

export function fieldNames({ fields }: UniqueKey): readonly string[] {
  return fields.map(({ name }) => name)
}

/** Whether every document has the same value of both. */
export function isSameKey(a: UniqueKey, b: UniqueKey): boolean {
  return JSON.stringify(shapeOf(a)) === JSON.stringify(shapeOf(b))
}

function shapeOf({ name, fields }: UniqueKey): unknown {
  return [name, fields.map((field) => [field.name, field.ignoreCase, field.ignoreAccents, field.collation])]
}
