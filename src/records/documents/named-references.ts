/** What a document of a file refers to, by name: `Acme` or, in a column `customer.name`, in place of the guid of the customer. */
import { QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { isGuid } from '../../shared/guid.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Session } from '../../storage/database.ts'
import { type FoundByName, namingFields, referenceByName } from '../../storage/reference/reference-by-name.ts'
import { referencesIn } from '../../storage/reference/references.ts'
import { rulesIn } from '../fields/field-rules.ts'
import type { ReadRow } from './read-row.ts'

export interface NamedReference {
  /** Where the name stands: the field that refers, or a field behind it as a mapping or a column says it. */
  readonly path: string
  /** The field that refers. */
  readonly field: string
  readonly storage: string
  /** Unique fields there, so that a name is never of two documents by one of them. */
  readonly by: readonly string[]
}

/**
 * The fields of a storage that refer to others, and those behind them that a mapping names or a column may be called. INVALID_QUERY for
 * a field of the mapping that is not unique where it is.
 */
export async function namedReferences(
  session: Session,
  storage: string,
  rules: readonly FieldRule[],
  paths: readonly (string | null)[],
): Promise<readonly NamedReference[]> {
  const named: NamedReference[] = []
  for (const { field, storage: target } of referencesIn(rules).of(storage)) {
    const by = namingFields(await rulesIn(session, target))
    named.push(
      { path: field, field, storage: target, by },
      ...by.map((one) => ({ path: `${field}.${one}`, field, storage: target, by: [one] })),
    )
    const unknown = paths.find(
      (path) => path?.startsWith(`${field}.`) && !by.includes(path.slice(field.length + 1)),
    )
    if (unknown)
      throw new QuoinError(
        'INVALID_QUERY',
        `mapping names ${unknown}, but ${unknown.slice(field.length + 1)} is no unique text field of the storage ${target}: a name could be of several documents. Make it unique, or use guids.`,
        { fields: ['mapping'] },
      )
  }
  return named
}

/** What the names of one batch of rows were found to be, so that a name that many rows have is looked up once. */
export type FoundNames = Map<string, FoundByName>

/** With guids in place of names; without those that no document has, or several. */
export async function withGuids(
  session: Session,
  document: JsonObject,
  named: readonly NamedReference[],
  known: FoundNames,
): Promise<ReadRow> {
  const fields: Record<string, JsonValue> = { ...document }
  const reasons: Record<string, string> = {}
  for (const one of named) {
    const { path, field } = one
    const isBehind = path !== field
    const isNested = !isBehind && !Object.hasOwn(fields, path)
    const value = isNested ? valueAt(document, parseFieldPath(path)) : fields[path]
    if (isBehind) delete fields[path]
    if (value === undefined || value === null) continue
    const text = isBehind && typeof value === 'number' ? String(value) : value
    if (typeof text !== 'string') {
      // What is no text in the field itself is said by its rule.
      if (isBehind) reasons[field] = `The value of ${path} must be text.`
    } else if (isBehind && Object.hasOwn(fields, field) && fields[field] !== null)
      reasons[field] = `Two columns go into the field ${field}.`
    else if (text.trim() !== '') {
      const found = await foundName(session, one, text.trim(), known)
      if ('problem' in found) reasons[field] = `The value of ${path} ${found.problem}.`
      else fields[field] = found.guid
    }
  }
  for (const field of Object.keys(reasons)) delete fields[field]
  return { document: fields, reasons }
}

async function foundName(
  session: Session,
  { storage, by }: NamedReference,
  text: string,
  known: FoundNames,
): Promise<FoundByName> {
  if (isGuid(text)) return { guid: text }
  const key = JSON.stringify([storage, by, text])
  const found = known.get(key) ?? (await referenceByName(session, storage, by, text))
  known.set(key, found)
  return found
}
