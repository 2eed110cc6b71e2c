/**
 * First documents of an application, `seed/stages.ndjson`. They follow a release that is live, on behalf of who has pushed.
 *
 * - Without a key they go only into a storage that never held a document.
 * - With a key, `{"$upsert_by":"code"}` as the first line, each push creates the documents whose key is not stored, and sets the fields of
 *   the others to what the file has. Fields and documents that are not in the file stay.
 *
 * `_meta.guid` of a new document says by what others refer to it. A date such as now-3d is counted from the push.
 */
import { ATTEMPTS_OF_MANY, originPayload } from '../flows/run/job-payload.ts'
import { auditTransfer } from '../records/audited-documents.ts'
import { type ManyPlace, manyPlace, manyProgress, moveOn } from '../records/documents/many-changes.ts'
import { createSamples, newDocument } from '../records/documents/sample-documents.ts'
import { rulesIn } from '../records/fields/field-rules.ts'
import type { Actor } from '../records/records.ts'
import type { StorageContext } from '../records/storage-records.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import { pauses } from '../shared/cooperative.ts'
import { evaluateDateMath, isDateMath } from '../shared/dates/date-math.ts'
import { QuoinError } from '../shared/errors.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { type JsonObject, type JsonValue, memberOf, sameJson } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, search } from '../shared/query.ts'
import { createAll } from '../storage/create-all.ts'
import type { Database, Session } from '../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn, textsIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { JobContinues } from '../storage/job.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'
import type { PermittedDatabase } from '../storage/validated.ts'
import { releaseContent } from './release-records.ts'

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

export interface DueSeed {
  readonly storage: string
  /** For people. */
  readonly step: string
}

/** Those of which a push would write any document. `left`: storages that a former release has to fill yet. */
export async function dueSeeds(
  database: Database,
  application: Application,
  left: readonly string[],
  now: number,
): Promise<readonly DueSeed[]> {
  const due: DueSeed[] = []
  for (const seed of seedsIn(application)) {
    const { storage } = seed
    const isLeft = left.includes(storage)
    const { created, changed } = await seedChanges(database, seed, isLeft, now)
    const texts = [created > 0 && `${created} created`, changed > 0 && `${changed} changed`].filter(Boolean)
    const why = isLeft ? ', which the release before has not written yet' : ''
    if (texts.length > 0)
      due.push({ storage, step: `documents of seed/${storage}.ndjson: ${texts.join(', ')}${why}` })
  }
  return due
}

async function seedChanges(database: Database, seed: Seed, isLeft: boolean, now: number) {
  const { storage, key } = seed
  const all = { created: seed.documents.length, changed: 0 }
  if (!database.has(storage)) return all
  const session = database.session()
  if (key === undefined) {
    const isUsed = !isLeft && (await session.count(storage, matchAll, true)) > 0
    return isUsed ? { created: 0, changed: 0 } : all
  }
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

// A release says in its transaction which files are due, and stores a job for them: so they are written once, whatever happens to the
// process that releases. It writes them itself as soon as its blueprints are served, and cancels the job; where it cannot, the job goes on
// behind the last batch that is committed. A newer release takes over what is left.

/** When the job begins: the request that releases has usually written them by then. */
const JOB_AFTER_MS = 2_000
/** How long one attempt of the job works: well below the deadline of a job. */
const ATTEMPT_MS = 30_000

interface Seeding {
  readonly application: string
  readonly release: number
  /** That are due. */
  readonly storages: readonly string[]
}

/** In the transaction of a release. Gives the guid of the job; '' where nothing is due. */
export async function enqueueSeeds(
  session: Session,
  { application, release, storages }: Seeding,
  { by, scopes, now }: { readonly by: Actor; readonly scopes: ReadonlySet<string>; readonly now: number },
): Promise<string> {
  if (storages.length === 0) return ''
  const job = await session.enqueue({
    queue: 'default',
    kind: 'change',
    title: `first documents of ${application}`,
    payload: {
      ...{ application, release, seeds: [...storages], scopes: [...scopes] },
      ...originPayload({ user: by }),
    },
    attempts: ATTEMPTS_OF_MANY,
    runAt: now + JOB_AFTER_MS,
  })
  return job ?? ''
}

export function seedingOf(payload: JsonObject): Seeding {
  const { application, release, seeds } = payload
  return { application: textIn(application), release: numberIn(release), storages: textsIn(seeds) }
}

/** Storages that the release of this record has to fill yet. */
export async function leftSeeds(
  database: Database,
  record: JsonObject | undefined,
): Promise<readonly string[]> {
  const guid = textIn(record?.seeding)
  if (guid === '') return []
  const job = await database.capabilities.jobs.get(guid)
  const { application, release, storages } = seedingOf(job?.payload ?? {})
  if (storages.length === 0 || release !== numberIn(record?.release)) return []
  const { done = 0 } = (await manyProgress(database, guid)) ?? {}
  const requested = await releaseContent(database.session(), application, release)
  return placedSeeds(requested, storages).flatMap(({ storage, to }) => (done < to ? [storage] : []))
}

interface PlacedSeed extends Seed {
  /** Of the documents of all that are due: where its own begin, and end. */
  readonly from: number
  readonly to: number
}

function placedSeeds(application: Application, due: readonly string[]): readonly PlacedSeed[] {
  let to = 0
  return seedsIn(application)
    .filter(({ storage }) => due.includes(storage))
    .map((seed) => {
      const from = to
      to += seed.documents.length
      return { ...seed, from, to }
    })
}

interface SeedWriter {
  readonly context: StorageContext
  /** On whose behalf the documents are written. */
  readonly permitted: PermittedDatabase
  readonly by: Actor
  /** Guid. */
  readonly job: string
  readonly signal?: AbortSignal
}

/** What is refused is left out and named: the next push tries it again. Throws JobContinues where one attempt has no time for all. */
export async function writeSeeds(
  writer: SeedWriter,
  application: Application,
  due: readonly string[],
): Promise<readonly string[]> {
  const { database, clock } = writer.context.records
  const seeds = placedSeeds(application, due)
  const total = seeds.at(-1)?.to ?? 0
  const until = clock() + ATTEMPT_MS
  const pause = pauses()
  // Of the job and of the request that has released, one writes at a time.
  return database.capabilities.withClusterLock(`seeds ${nameOfApplication(application)}`, async () => {
    let place = await manyPlace(database, writer.job, clock(), () => total)
    while (!place.finished) {
      await pause()
      writer.signal?.throwIfAborted()
      if (writer.signal && clock() >= until) throw new JobContinues('The job continues in its next attempt.')
      const next = await nextSeeds(writer, seeds, place)
      // A newer release has taken over, or the application is gone.
      if (!next) return []
      place = next
    }
    return place.problems.map(({ message }) => textIn(message))
  })
}

/** A whole file without a key, or a batch of one with a key, in one transaction with how far the job has come. */
async function nextSeeds(
  { context, permitted, by, job }: SeedWriter,
  seeds: readonly PlacedSeed[],
  place: ManyPlace,
): Promise<ManyPlace | undefined> {
  const { database, clock } = context.records
  const seed = seeds.find(({ to }) => place.done < to)
  const total = seeds.at(-1)?.to ?? 0
  const moved = async (session: Session, done: number, problems: readonly JsonObject[] = []) => {
    const record = await seedingRecord(session, job)
    if (!record) return undefined
    const finished = done >= total
    const refused = place.refused + (problems.length > 0 ? done - place.done : 0)
    const next = { ...place, done, finished, refused, problems: [...place.problems, ...problems] }
    if (finished)
      await session.update(systemStorages.applications, guidOf(record), setFields({ seeding: '' }))
    return moveOn(session, job, place, { ...next, changed: done - refused })
  }
  if (!seed) return transactAgain(database, (session) => moved(session, total))
  const documents = seed.documents.slice(place.done - seed.from)
  const some = seed.key === undefined ? documents : documents.slice(0, BATCH)
  try {
    return await transactAgain(
      permitted,
      async (session) => {
        // Before anything is written, and so that no release begins meanwhile.
        if (!(await seedingRecord(session, job))) return undefined
        await writeDocuments(session, context, { ...seed, documents: some }, clock())
        return moved(session, place.done + some.length)
      },
      { user: by },
    )
  } catch (error) {
    if (!(error instanceof QuoinError) || passing.has(error.code)) throw error
    const message = `seed/${seed.storage}.ndjson: ${error.message}`
    return transactAgain(database, (session) => moved(session, seed.to, [{ message }]))
  }
}

/** Of what may be there the next time. */
const passing: ReadonlySet<string> = new Set(['UNAVAILABLE', 'INTERNAL', 'STORAGE_FULL'])

/** The record of the application whose documents this job writes; undefined where it no longer does. It is locked. */
async function seedingRecord(session: Session, job: string): Promise<JsonObject | undefined> {
  const found = await findOne(session, systemStorages.applications, 'seeding', job)
  if (!found) return undefined
  await session.claims.lockDocuments(systemStorages.applications, [guidOf(found)], 'change')
  return findOne(session, systemStorages.applications, 'seeding', job)
}

async function writeDocuments(
  session: Session,
  { audit }: StorageContext,
  { storage, key, documents }: Seed,
  now: number,
): Promise<void> {
  const rules = await rulesIn(session, storage)
  const made = (some: readonly JsonObject[]) =>
    some.map((one) => newDocument(datedDocument(one, rules, now), true))
  if (key === undefined) {
    await createSamples(session, storage, made(documents))
    await auditTransfer(audit, session, storage, 'imported', documents.length)
    return
  }
  const { created, changed } = await batchChanges(session, { storage, documents, key }, rules, now)
  for (const { guid, fields } of changed) await session.update(storage, guid, setFields(fields))
  const { refused } = await createAll(session, storage, made(created))
  if (refused) throw refused
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
