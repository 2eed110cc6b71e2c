/**
 * First documents of an application, `seed/stages.ndjson`. They follow a release that is live, on behalf of the caller.
 *
 * - Without a key they go only into a storage that never held a document.
 * - With a key, `{"$upsert_by":"code"}` as the first line, each push creates the documents whose key is not stored, and sets the fields of
 *   the others to what the file has. Fields and documents that are not in the file stay.
 *
 * `_meta.guid` of a new document says by what others refer to it. A date such as now-3d is counted from the push.
 */
import { addSampleDocuments, newDocument } from '../records/documents/sample-documents.ts'
import { rulesIn } from '../records/fields/field-rules.ts'
import type { Actor } from '../records/records.ts'
import type { StorageContext } from '../records/storage-records.ts'
import type { Application } from '../shared/application/application.ts'
import { pauses } from '../shared/cooperative.ts'
import { evaluateDateMath, isDateMath } from '../shared/dates/date-math.ts'
import { QuoinError } from '../shared/errors.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { type JsonObject, type JsonValue, memberOf, sameJson } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, search } from '../shared/query.ts'
import { createAll } from '../storage/create-all.ts'
import type { Database, Session } from '../storage/database.ts'
import { guidOf, objectsIn } from '../storage/document-fields.ts'
import { transact } from '../storage/transact.ts'
import type { PermittedDatabase } from '../storage/validated.ts'

/** Keys that one search asks for. */
const BATCH = 100

interface Seed {
  readonly storage: string
  readonly documents: readonly JsonObject[]
  readonly key: string | undefined
}

function seedsIn({ seed }: Application): readonly Seed[] {
  return Object.entries(seed).map(([storage, { documents, upsert_by: key }]) => ({
    storage,
    documents: objectsIn(documents),
    key: typeof key === 'string' ? key : undefined,
  }))
}

/** What a push would write of them: a line for each file of which it would write any. */
export async function seedSteps(
  database: Database,
  application: Application,
  now: number,
): Promise<string[]> {
  const steps: string[] = []
  for (const seed of seedsIn(application)) {
    const { created, changed } = await seedChanges(database, seed, now)
    const texts = [created > 0 && `${created} created`, changed > 0 && `${changed} changed`].filter(Boolean)
    if (texts.length > 0) steps.push(`documents of seed/${seed.storage}.ndjson: ${texts.join(', ')}`)
  }
  return steps
}

async function seedChanges(database: Database, seed: Seed, now: number) {
  const { storage, key } = seed
  const all = { created: seed.documents.length, changed: 0 }
  if (!database.has(storage)) return all
  const session = database.session()
  if (key === undefined)
    return (await session.count(storage, matchAll, true)) > 0 ? { created: 0, changed: 0 } : all
  const rules = await rulesIn(session, storage)
  const found = { created: 0, changed: 0 }
  for (const batch of batchesOf(seed.documents)) {
    const { created, changed } = await batchChanges(session, { ...seed, key, documents: batch }, rules, now)
    found.created += created.length
    found.changed += changed.length
  }
  return found
}

function batchesOf(documents: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const starts = Array.from({ length: Math.ceil(documents.length / BATCH) }, (_, at) => at * BATCH)
  return starts.map((start) => documents.slice(start, start + BATCH))
}

interface BatchChanges {
  readonly created: readonly JsonObject[]
  readonly changed: readonly { readonly guid: string; readonly fields: JsonObject }[]
}

async function batchChanges(
  session: Session,
  { storage, documents, key }: Seed & { readonly key: string },
  rules: readonly FieldRule[],
  now: number,
): Promise<BatchChanges> {
  const values = documents.flatMap((one) => keyIn(one, key) ?? [])
  const query = { kind: 'terms', field: key, values } as const
  const { documents: found } = await session.find(storage, search({ query, limit: BATCH }))
  const stored = new Map(objectsIn(found.value).map((one) => [keyIn(one, key), one]))
  const changed: { guid: string; fields: JsonObject }[] = []
  const created = documents.filter((document) => {
    const before = stored.get(keyIn(document, key))
    if (!before) return true
    const { _meta, ...fields } = datedDocument(document, rules, now)
    const differ = Object.entries(fields).filter(
      ([name, value]) => !sameJson(value, memberOf(before, name) ?? null),
    )
    if (differ.length > 0) changed.push({ guid: guidOf(before), fields: Object.fromEntries(differ) })
    return false
  })
  return { created, changed }
}

function keyIn(document: JsonObject, key: string): string | number | undefined {
  const value = document[key]
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

/** The release is live: what is refused here is a warning, and the next push tries it again. */
export async function writeSeeds(
  context: StorageContext,
  permitted: PermittedDatabase,
  application: Application,
  by: Actor,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const seed of seedsIn(application))
    try {
      await writeSeed(context, permitted, seed, by)
    } catch (error) {
      if (!(error instanceof QuoinError)) throw error
      problems.push(`seed/${seed.storage}.ndjson: ${error.message}`)
    }
  return problems
}

async function writeSeed(
  context: StorageContext,
  permitted: PermittedDatabase,
  seed: Seed,
  by: Actor,
): Promise<void> {
  const { storage, key } = seed
  const { database, clock } = context.records
  const rules = await rulesIn(database.session(), storage)
  const now = clock()
  if (key === undefined) {
    const documents = seed.documents.map((one) => datedDocument(one, rules, now))
    await addSampleDocuments(context, permitted, { storage, documents, withGuids: true }, by)
    return
  }
  const pause = pauses()
  for (const documents of batchesOf(seed.documents)) {
    await pause()
    await transact(
      permitted,
      async (session) => {
        const { created, changed } = await batchChanges(session, { storage, documents, key }, rules, now)
        for (const { guid, fields } of changed) await session.update(storage, guid, setFields(fields))
        const { refused } = await createAll(
          session,
          storage,
          created.map((one) => newDocument(datedDocument(one, rules, now), true)),
        )
        if (refused) throw refused
      },
      { user: by },
    )
  }
}

/** Samples are never out of date: what a field of dates has as now-3d becomes the day or the time that it is. */
function datedDocument(document: JsonObject, rules: readonly FieldRule[], now: number): JsonObject {
  const dated = rules.flatMap(({ name, type }): [string, JsonValue][] => {
    const value = document[name]
    if (!['date', 'day', 'instant'].includes(type) || typeof value !== 'string' || !isDateMath(value))
      return []
    const read = evaluateDateMath(value, now)
    if ('problem' in read) return []
    const text = new Date(read.milliseconds).toISOString()
    return [[name, type === 'instant' ? text : text.slice(0, 10)]]
  })
  return { ...document, ...Object.fromEntries(dated) }
}
