/**
 * Fields that are references: what they may be, and that stored documents fit before one becomes one. Each has an index, by
 * which the documents that refer to another one are found.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { type FieldRule, isEmptyValue } from '../../shared/field-rule.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { search } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import type { Index } from '../../storage/document-index.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { isOwnStorage, systemStorages } from '../../storage/system-storages.ts'
import type { FieldChange } from './unique-fields.ts'

/** Each costs every write of its storage, and every removal from the other one. */
const MOST_REFERENCES = 16
const BATCH = 500
/** Of the documents that do not fit. */
const MOST_LISTED = 100

/** What is wrong with a reference as such, in words that finish "reference …". */
export function referenceProblem({
  name,
  storage,
  type,
  required,
  reference,
}: FieldRule): string | undefined {
  if (reference === undefined) return undefined
  if (storage === undefined) return 'needs a storage: the one that has the field'
  if (type !== 'reference' && type !== 'string')
    return `needs a field of the type reference or string; ${name} is of the type ${type}`
  if (isOwnStorage(reference.storage))
    return `cannot name ${reference.storage}, which belongs to Quoin itself`
  if (required && reference.onDelete === 'clear')
    return 'cannot be cleared, because the field is required. Use refuse or delete as on_delete'
  return undefined
}

/** The index that a reference needs. */
export function referenceIndex({ field }: Pick<Reference, 'field'>): Index {
  return { fields: [field] }
}

/** Prepares a field to become a reference. Throws CONFLICT that lists documents which do not fit, and then nothing is changed. */
export async function keepReference(database: Database, { before, after }: FieldChange): Promise<void> {
  if (after?.reference === undefined || after.storage === undefined) return
  const { name, storage, reference } = after
  const isSame =
    before?.name === name && before.storage === storage && before.reference?.storage === reference.storage
  if (isSame) return
  if (before?.reference === undefined || before.storage !== storage) await checkNumber(database, storage)
  if (!database.has(reference.storage))
    throw invalidField('reference', `There is no storage ${reference.storage}. Create it first.`)
  if (!database.has(storage)) return
  await database.ensure(storage, { indexes: [referenceIndex({ field: name })] })
  const wrong = await misfits(database.session(), { ...reference, from: storage, field: name })
  if (wrong.total > 0) throw misfitError(after, reference.storage, wrong)
}

async function checkNumber(database: Database, storage: string): Promise<void> {
  const query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'storage', value: storage },
      { kind: 'exists', field: 'reference.storage' },
    ],
  } as const
  if ((await database.session().count(systemStorages.fields, query)) >= MOST_REFERENCES)
    throw invalidField('reference', `A storage has at most ${MOST_REFERENCES} references.`)
}

interface Misfits {
  readonly total: number
  readonly documents: readonly JsonObject[]
}

/** Goes through all present documents; writes go on meanwhile. */
async function misfits(session: Session, { from, field, storage }: Reference): Promise<Misfits> {
  const path = parseFieldPath(field)
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const query = { kind: 'exists', field } as const
  const listed: JsonObject[] = []
  let total = 0
  let after: string | undefined
  do {
    const found = await session.find(from, search({ query, sort, limit: BATCH, ...(after && { after }) }))
    const values = documentsOf(found).map((document) => ({
      guid: guidOf(document),
      value: valueAt(document, path) ?? null,
    }))
    const present = await presentAmong(session, storage, values)
    const wrong = values.filter(({ value }) => !isEmptyValue(value) && !present.has(value))
    total += wrong.length
    listed.push(...wrong.slice(0, MOST_LISTED - listed.length))
    after = found.next()
    await nextTurn()
  } while (after !== undefined)
  return { total, documents: listed }
}

async function presentAmong(
  session: Session,
  storage: string,
  values: readonly { readonly value: JsonValue }[],
): Promise<ReadonlySet<JsonValue>> {
  const guids = [...new Set(values.flatMap(({ value }) => (typeof value === 'string' ? [value] : [])))]
  const query = { kind: 'terms', field: '_meta.guid', values: guids } as const
  const found = await session.find(storage, search({ query, limit: BATCH }))
  return new Set(documentsOf(found).map(guidOf))
}

function misfitError({ name, storage = '' }: FieldRule, target: string, wrong: Misfits): QuoinError {
  const what = wrong.total === 1 ? '1 document' : `${wrong.total} documents`
  return new QuoinError(
    'CONFLICT',
    `The storage ${storage} holds ${what} whose ${name} names no document of the storage ${target}. Change or remove those that details lists.`,
    { fields: ['reference'], details: { total: wrong.total, documents: [...wrong.documents] } },
  )
}
