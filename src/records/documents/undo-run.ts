/**
 * Takes back what a run wrote: what it created is removed, what it changed is as it was, what it removed is there again. Of storages
 * that keep history only, and in one transaction; or in parts, the newest writes first, each a transaction. A document that others have
 * changed since is left alone.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Pause, pauses, runCooperatively } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { type Mutation, setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { HalfWritten, refusalOf } from '../../storage/create-all.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { numberIn, objectsIn, textIn, updateHashOf } from '../../storage/document-fields.ts'
import type { JobSummary } from '../../storage/job.ts'
import { transactAgain } from '../../storage/transact.ts'
import type { Subject } from '../permissions/judge.ts'
import type { Permissions } from '../permissions/permissions.ts'
import type { Actor } from '../records.ts'
import type { PermittedContext } from '../storage-records.ts'
import { type DocumentState, reversedDocument } from './reversed-document.ts'

/** In one transaction: 1,000 updates take 0.35 s on SQLite and 1.6 s on PostgreSQL. */
const MOST_WRITES = 1_000
/** Characters of its history: a record of it has up to 1,048,576. */
const LARGEST_HISTORY = 32 * 1024 ** 2
const PAGE = 25
const MOST_LISTED = 100
/** Jobs that a run has stored are looked for among those of its time. Each is read: 0.1 ms on SQLite, 0.5 ms on PostgreSQL. */
const MOST_JOBS = 10_000
const PAGE_OF_JOBS = 500
/** The same of those that were begun, which are only listed. */
const MOST_BEGUN = 2_000
/** Each leaves at least one document more than the one before. */
const MOST_TRIES = 5
const JOBS_BEHIND_S = 60

type Undoing = 'remove' | 'change' | 'restore' | 'create'

/** What is done with one document. */
export interface UndoneDocument {
  readonly storage: string
  readonly document: string
  /** `nothing`: it is as before the run. */
  readonly action: Undoing | 'nothing'
  /** Why it stays as it is. */
  readonly problem: string | null
}

export type UndoneJob = Pick<JobSummary, 'guid' | 'title' | 'queue' | 'state'>

export interface Undo {
  /** How many documents are changed, and how many are not because of a problem. */
  readonly count: number
  readonly left: number
  /** The first of them, those with a problem first. */
  readonly documents: readonly UndoneDocument[]
  /** What the run left to do, and has not begun. */
  readonly jobs: readonly UndoneJob[]
  /** What cannot be taken back: those that were begun. Undefined where that is not known, as there are too many of its time. */
  readonly begun: readonly UndoneJob[] | undefined
  /** What the part behind this one begins with, if there is one. */
  readonly next: string | undefined
}

export interface UndoPlace {
  readonly context: PermittedContext
  readonly permissions: Permissions
  readonly subject: Subject
  readonly run: string
  /** One of its parts: the first, or that behind the part whose `next` this is. Undefined for all of it. */
  readonly part?: { readonly after?: string } | undefined
}

/** What {@link undoRun} would do. NOT_FOUND for a run of which the history has nothing. */
export async function previewUndo(place: UndoPlace): Promise<Undo> {
  const { database } = place.context.records
  const pause = pauses()
  const session = database.session()
  const { records, next } = await recordsOfRun(session, place, pause)
  const documents: UndoneDocument[] = []
  for (const one of byDocument(records)) {
    await pause()
    let { document } = await planned(session, one)
    // Parts before this one, which are not taken back yet, may have changed it too.
    if (document.problem !== null && place.part?.after !== undefined) {
      const all = await recordsOfRun(session, { ...place, part: {} }, pause, one.guid)
      const own = all.records.filter(({ storage }) => storage === one.storage)
      document = (await planned(session, { ...one, records: own })).document
    }
    documents.push(document)
  }
  return undoOf(documents, await jobsOf(place, records, pause), next)
}

/**
 * `leaveChanged`: what others have changed since is left out. Without it there is a CONFLICT, whose details list them, and nothing is
 * changed. `as`: the guid under which the history records these writes, so that they can be taken back too.
 */
export async function undoRun(
  place: UndoPlace,
  { leaveChanged, as, by }: { readonly leaveChanged: boolean; readonly as: string; readonly by: Actor },
): Promise<Undo> {
  const { audit, records: service } = place.context
  const halves: Halves = new Map()
  // Before the first write: finding them among many others takes seconds, in which no other writer should wait.
  const pause = pauses()
  const { records: written } = await recordsOfRun(service.database.session(), place, pause)
  const jobs = await jobsOf(place, written, pause)
  const attempt = async (session: Session): Promise<Undo> => {
    const { records, next } = await recordsOfRun(session, place, pause)
    const documents: UndoneDocument[] = []
    const before = halves.size
    for (const one of byDocument(records)) {
      // The embedded engine answers within the turn: 1,000 documents of 20 KB took a second of it.
      await pause()
      documents.push(await undone(session, one, halves))
    }
    const undo = undoOf(documents, jobs, next)
    if (undo.left > 0 && !leaveChanged) throw notUndone(undo)
    if (halves.size > before) throw new HalfUndone(notUndone(undo))
    await audit.record(session, {
      ...{ category: 'documents', action: 'undone', guid: place.run, name: storagesOf(documents) },
      ...{ before: {}, after: { documents: undo.count, left: undo.left, run: as } },
    })
    return undo
  }
  for (let tries = 1; ; tries++) {
    try {
      return await transactAgain(service.database, attempt, { user: by, run: as })
    } catch (error) {
      if (!(error instanceof HalfUndone)) throw error
      if (tries === MOST_TRIES) throw error.refused
    }
  }
}

/** Documents the first write of which was made and the second refused, with why. The next try leaves them as they are. */
type Halves = Map<string, string>

class HalfUndone extends Error {
  readonly refused: QuoinError

  constructor(refused: QuoinError) {
    super('A document was undone in half.')
    this.refused = refused
  }
}

interface WrittenRecords {
  /** The newest first. */
  readonly records: readonly JsonObject[]
  readonly next: string | undefined
}

/** `document`: of this one alone. */
async function recordsOfRun(
  session: Session,
  place: UndoPlace,
  pause: Pause,
  document?: string,
): Promise<WrittenRecords> {
  const { context, run, part } = place
  const ofRun: Query = { kind: 'term', field: 'run', value: run }
  const query: Query =
    document === undefined
      ? ofRun
      : { kind: 'and', queries: [ofRun, { kind: 'term', field: 'document', value: document }] }
  const records: JsonObject[] = []
  let characters = 0
  let after = part?.after
  for (;;) {
    const requested = search({ query, limit: PAGE, ...(after !== undefined && { after }) })
    const { documents, next } = await context.history.find(session, requested)
    characters += documents.text.length
    records.push(...objectsIn(await runCooperatively(documents.inSteps(), pause)))
    after = next()
    if (after === undefined) break
    if (part && (records.length >= MOST_WRITES || characters > LARGEST_HISTORY)) break
    if (records.length > MOST_WRITES || characters > LARGEST_HISTORY) throw tooMany()
  }
  if (!part && (records.length > MOST_WRITES || characters > LARGEST_HISTORY)) throw tooMany()
  await checkRecords(records, place)
  return { records, next: after }
}

async function checkRecords(
  records: readonly JsonObject[],
  { permissions, subject, part }: UndoPlace,
): Promise<void> {
  if (records.length === 0 && part?.after === undefined)
    throw new QuoinError(
      'NOT_FOUND',
      'The history has no writes of this run. Only storages that keep history record them.',
    )
  for (const storage of new Set(records.map((record) => textIn(record.storage))))
    if (subject.bound && (await permissions.counts(storage)))
      throw new QuoinError(
        'DENIED_BY_RULE',
        `The run wrote to ${storage}, which has permissions. Users who are bound by them cannot take a run back.`,
      )
}

function tooMany(): QuoinError {
  const most = MOST_WRITES.toLocaleString('en-US')
  return new QuoinError(
    'CONFLICT',
    `The run wrote more than can be taken back at once: at most ${most} writes and ${LARGEST_HISTORY / 1024 ** 2} MiB of history. Take it back in parts (in_parts).`,
  )
}

interface OfDocument {
  readonly storage: string
  readonly guid: string
  /** The newest first. */
  readonly records: readonly JsonObject[]
}

/** What was written last comes first: it may refer to what was written before it. */
function byDocument(records: readonly JsonObject[]): OfDocument[] {
  const groups = Map.groupBy(records, ({ storage, document }) => `${textIn(storage)} ${textIn(document)}`)
  return [...groups.values()].map((own) => ({
    storage: textIn(own[0]?.storage),
    guid: textIn(own[0]?.document),
    records: own,
  }))
}

interface Planned {
  readonly document: UndoneDocument
  readonly now: DocumentState
  readonly before: DocumentState
  readonly updateHash: string
}

async function planned(session: Session, { storage, guid, records }: OfDocument): Promise<Planned> {
  const stored = await session.get(storage, guid, { removed: true })
  const document = stored && documentOf(stored)
  const now = document && stateOf(document)
  const reversed = reversedDocument(now, records)
  const problem = 'problem' in reversed ? reversed.problem : null
  const before = 'problem' in reversed ? now : reversed.state
  return {
    document: { storage, document: guid, action: actionBetween(now, before), problem },
    ...{ now, before, updateHash: document ? updateHashOf(document) : '' },
  }
}

function stateOf({ _meta: meta, ...fields }: JsonObject): DocumentState {
  return { fields, removed: isJsonObject(meta) && numberIn(meta.removed) > 0 }
}

function actionBetween(now: DocumentState, before: DocumentState): UndoneDocument['action'] {
  if (!before) return now && !now.removed ? 'remove' : 'nothing'
  if (!now) return 'create'
  if (now.removed !== before.removed) return before.removed ? 'remove' : 'restore'
  return isDeepStrictEqual(now.fields, before.fields) ? 'nothing' : 'change'
}

/** A write that is refused, by a rule or because others refer to it, leaves the document and is its problem. */
async function undone(session: Session, one: OfDocument, halves: Halves): Promise<UndoneDocument> {
  const plan = await planned(session, one)
  if (plan.document.problem !== null || plan.document.action === 'nothing') return plan.document
  const key = `${one.storage} ${one.guid}`
  const known = halves.get(key)
  if (known !== undefined) return { ...plan.document, problem: known }
  const made = { writes: 0 }
  const problem = await write(session, one, plan, made).then(
    (isWhole) => (isWhole ? null : 'It was changed since.'),
    (error: unknown) => {
      if (!(error instanceof HalfWritten)) return refusalOf(error).message
      made.writes += 1
      return error.message
    },
  )
  if (problem !== null && made.writes > 0) halves.set(key, problem)
  return { ...plan.document, problem }
}

async function write(
  session: Session,
  { storage, guid }: OfDocument,
  { now, before, updateHash }: Planned,
  made: { writes: number },
): Promise<boolean> {
  if (!now && before) {
    await session.create(storage, setFields(before.fields), { guid, ...before.meta, restored: true })
    made.writes += 1
    return !before.removed || isWritten(await session.setRemoved(storage, guid, true))
  }
  const removed = before?.removed ?? true
  const mutations = before && now ? mutationsBetween(now.fields, before.fields) : []
  let condition = { updateHash }
  const done = async (written: ReturnType<Session['update']>) => {
    const { outcome, ...rest } = await written
    if (outcome !== 'written' || !('document' in rest)) return false
    made.writes += 1
    condition = { updateHash: updateHashOf(documentOf(rest.document)) }
    return true
  }
  // Only a present document can be changed.
  if (now?.removed && !removed && !(await done(session.setRemoved(storage, guid, false, condition))))
    return false
  if (mutations.length > 0 && !(await done(session.update(storage, guid, mutations, condition)))) return false
  return now?.removed || !removed || done(session.setRemoved(storage, guid, true, condition))
}

function isWritten({ outcome }: { readonly outcome: string }): boolean {
  return outcome === 'written'
}

function mutationsBetween(now: JsonObject, before: JsonObject): Mutation[] {
  const mutations: Mutation[] = []
  for (const [field, value] of Object.entries(before))
    if (value !== undefined && !isDeepStrictEqual(now[field], value))
      mutations.push({ op: 'set', field, value })
  for (const field of Object.keys(now))
    if (!Object.hasOwn(before, field)) mutations.push({ op: 'remove', field })
  return mutations
}

type CausedJobs = Pick<Undo, 'jobs' | 'begun'>

async function jobsOf(place: UndoPlace, records: readonly JsonObject[], pause: Pause): Promise<CausedJobs> {
  const times = records.map(({ _meta: meta }) => (isJsonObject(meta) ? numberIn(meta.created) : 0))
  const between = { gte: Math.min(...times) - 1, lte: Math.max(...times) + JOBS_BEHIND_S }
  const ofTime: Query = { kind: 'range', field: '_meta.created', bounds: between }
  const unbegun: Query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'status', value: 'waiting' },
      { kind: 'term', field: 'attempts', value: 0 },
    ],
  }
  const jobs = await causedJobs(place, [ofTime, unbegun], MOST_JOBS, pause)
  if (!jobs) throw tooManyJobs()
  return {
    jobs,
    begun: await causedJobs(place, [ofTime, { kind: 'not', query: unbegun }], MOST_BEGUN, pause),
  }
}

/** Undefined where more are found than are looked at. */
async function causedJobs(
  { context, run }: UndoPlace,
  queries: readonly Query[],
  most: number,
  pause: Pause,
): Promise<readonly UndoneJob[] | undefined> {
  const { jobs } = context.records.database.capabilities
  const query: Query = { kind: 'and', queries }
  const caused: UndoneJob[] = []
  for (let after: string | undefined; ; ) {
    const page = await jobs.search(
      search({ query, limit: PAGE_OF_JOBS, ...(after !== undefined && { after }) }),
    )
    if (page.total > most) return undefined
    for (const job of page.records) {
      await pause()
      const { guid, title, queue, state } = job
      if ((await jobs.get(guid))?.payload.run === run) caused.push({ guid, title, queue, state })
    }
    after = page.next
    if (after === undefined) return caused
  }
}

function tooManyJobs(): QuoinError {
  const most = MOST_JOBS.toLocaleString('en-US')
  return new QuoinError(
    'CONFLICT',
    `More than ${most} jobs of the time of the run wait, too many to find those that are its own. Retry when fewer wait.`,
  )
}

function undoOf(documents: readonly UndoneDocument[], caused: CausedJobs, next: string | undefined): Undo {
  const problems = documents.filter(({ problem }) => problem !== null)
  const others = documents.filter(({ problem }) => problem === null)
  return {
    count: others.filter(({ action }) => action !== 'nothing').length,
    left: problems.length,
    documents: [...problems, ...others].slice(0, MOST_LISTED),
    ...caused,
    next,
  }
}

function storagesOf(documents: readonly UndoneDocument[]): string {
  return [...new Set(documents.map(({ storage }) => storage))].sort().join(', ')
}

function notUndone({ left, documents }: Undo): QuoinError {
  const [first] = documents
  const what = left === 1 ? '1 document' : `${left.toLocaleString('en-US')} documents`
  return new QuoinError(
    'CONFLICT',
    `${what} cannot be taken back, and nothing is: ${first?.storage} ${first?.document}: ${first?.problem} Send leave_changed to take back the others.`,
    { details: { total: left, documents: documents.filter(({ problem }) => problem !== null).map(plain) } },
  )
}

function plain({ storage, document, problem }: UndoneDocument): JsonObject {
  return { storage, document, problem }
}
