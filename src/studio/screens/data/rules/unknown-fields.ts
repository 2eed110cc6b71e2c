import { nearestName } from '../../../../shared/names/nearest-name.ts'

/** Fields of a document that a rule reads: `doc.name`, `doc?.name` and `doc["name"]`, of paths the first name. */
const READ = /\bdoc\??(?:\.([A-Za-z_]\w*)|\["([^"]+)"\])/g
/** Texts, which may hold words that look like a read. The ones in brackets are names. */
const TEXT = /(\[\s*)?(["'`])(?:\\.|(?!\2)[^\\])*\2/g

/** Names that a rule reads and the fields of its storage do not have. Each with the field that was probably meant. */
export function unknownFields(
  rule: string,
  fields: readonly string[],
): readonly { readonly name: string; readonly meant: string | undefined }[] {
  // A storage without fields takes every name.
  if (fields.length === 0) return []
  const known = new Set(['_meta', ...fields.map((field) => field.split('.')[0] ?? field)])
  const code = rule.replace(TEXT, (text, bracket: string | undefined) =>
    bracket === undefined ? '""' : text.replaceAll("'", '"'),
  )
  const names = new Set([...code.matchAll(READ)].map(([, dotted, quoted]) => dotted ?? quoted ?? ''))
  return [...names]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, meant: nearestName(name, [...known]) }))
}
