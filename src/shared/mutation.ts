import type { JsonValue } from './json.ts'

/**
 * One change to a field of a document. A list of them is applied in order, in one transaction, to the newest version of
 * the document, so increments never lose an update. `field` is a dotted name; `_meta` is refused.
 */
export type Mutation =
  | {
      readonly op: 'set'
      readonly field: string
      readonly value: JsonValue
      /** Dotted names of what is null in the value because it was not sent: a new document gets their defaults. */
      readonly unsent?: readonly string[]
    }
  /** A missing or null field counts from 0; anything else that is no number is refused. */
  | { readonly op: 'increment'; readonly field: string; readonly amount: number }
  /** At the end of a list. A missing or null field counts as an empty one; anything else that is no list is refused. */
  | { readonly op: 'append'; readonly field: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly field: string }

/** Sets each given field; what is undefined stays as it is. Keys are dotted names. */
export function setFields(fields: Readonly<Record<string, JsonValue | undefined>>): Mutation[] {
  const mutations: Mutation[] = []
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) mutations.push({ op: 'set', field, value })
  }
  return mutations
}
