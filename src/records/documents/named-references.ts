/** Columns of a file that name what a document refers to: `customer.name` in place of the guid of the customer. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Session } from '../../storage/database.ts'
import { type FoundByName, namingFields, referenceByName } from '../../storage/reference/reference-by-name.ts'
import { referencesIn } from '../../storage/reference/references.ts'
import { rulesIn } from '../fields/field-rules.ts'

export interface NamedReference {
  /** As the mapping says it. */
  readonly path: string
  /** The field that refers. */
  readonly field: string
  readonly storage: string
  /** A unique field there, so that a name is never of two documents. */
  readonly by: string
}

/** Those among the fields of a mapping. INVALID_QUERY for a field that is not unique where it is. */
export async function namedReferences(
  session: Session,
  storage: string,
  paths: readonly (string | null)[],
): Promise<readonly NamedReference[]> {
  const references = referencesIn(await rulesIn(session, storage)).of(storage)
  const named: NamedReference[] = []
  for (const path of paths) {
    const reference = references.find(({ field }) => path?.startsWith(`${field}.`))
    if (!path || !reference) continue
    const by = path.slice(reference.field.length + 1)
    if (!namingFields(await rulesIn(session, reference.storage)).includes(by))
      throw new QuoinError(
        'INVALID_QUERY',
        `mapping names ${path}, but ${by} is no unique text field of the storage ${reference.storage}: a name could be of several documents. Make it unique, or use guids.`,
        { fields: ['mapping'] },
      )
    named.push({ path, field: reference.field, storage: reference.storage, by })
  }
  return named
}

/** What the names of one batch of rows were found to be, so that a name that many rows have is looked up once. */
export type FoundNames = Map<string, FoundByName>

/** With guids in place of names. INVALID_BODY for a name that no document has. */
export async function withGuids(
  session: Session,
  document: JsonObject,
  named: readonly NamedReference[],
  known: FoundNames,
): Promise<JsonObject> {
  const fields: Record<string, JsonValue> = { ...document }
  for (const { path, field, storage, by } of named) {
    const name = fields[path]
    delete fields[path]
    const text = typeof name === 'string' ? name.trim() : typeof name === 'number' ? String(name) : undefined
    if (name === undefined || name === null || text === '') continue
    if (text === undefined) throw wrong(field, `The value of ${path} must be text.`)
    if (fields[field] !== undefined) throw wrong(field, `Two columns go into the field ${field}.`)
    const key = JSON.stringify([storage, by, text])
    const found = known.get(key) ?? (await referenceByName(session, storage, [by], text))
    known.set(key, found)
    if ('problem' in found) throw wrong(field, `The value of ${path} ${found.problem}.`)
    fields[field] = found.guid
  }
  return fields
}

function wrong(field: string, message: string): QuoinError {
  return new QuoinError('INVALID_BODY', message, { fields: [field] })
}
