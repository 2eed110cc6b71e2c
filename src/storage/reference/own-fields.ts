/**
 * Orders, groups and figures are of a document's own fields: no engine sorts or groups by a field of another document. Without
 * this check such a path would find nothing in each document, and say nothing of it.
 */
import type { Reference } from './references.ts'

/** The first field that is behind a reference, in words that finish "The block …". */
export function behindProblem(
  fields: readonly string[],
  references: readonly Reference[],
): string | undefined {
  for (const field of fields) {
    const reference = references.find((one) => field.startsWith(`${one.field}.`))
    if (reference) return problemOf(field, reference)
  }
  return undefined
}

function problemOf(field: string, { field: own, storage, from }: Reference): string {
  return `has ${field}, a field of another document: ${own} refers to the storage ${storage}. Use ${own} itself, or keep the value in a field of ${from}`
}
