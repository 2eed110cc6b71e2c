import { namesOf } from '../../../../expressions/language/expression.ts'
import { parseExpression } from '../../../../expressions/language/parse-expression.ts'
import { nearestName } from '../../../../shared/names/nearest-name.ts'

/** Names that a rule reads of its document. A rule that is half typed reads none. */
function readFields(rule: string): readonly string[] {
  const { expression } = parseExpression(rule)
  const names = expression ? namesOf(expression) : []
  return names.flatMap(({ name, inBlocks, path: [field] }) =>
    name === 'doc' && !inBlocks && field !== undefined ? [field] : [],
  )
}

/**
 * Names that a rule reads and no field has, each with the field that was probably meant. `fields` are those of the storage, `shared`
 * those that belong to none and hold for every storage.
 */
export function unknownFields(
  rule: string,
  fields: readonly string[],
  shared: readonly string[],
): readonly { readonly name: string; readonly meant: string | undefined }[] {
  // A storage without fields takes every name.
  if (fields.length === 0) return []
  const known = new Set(['_meta', ...[...fields, ...shared].map((field) => field.split('.')[0] ?? field)])
  return [...new Set(readFields(rule))]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, meant: nearestName(name, [...known]) }))
}
