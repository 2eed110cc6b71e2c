/**
 * Runs that wait continue on the version that they began with. A mistake behind the wait is corrected in a later version: here a
 * run is moved there, if that version has the block and the run has stored all that the blocks behind it read.
 */
import type { AuditLog } from '../../records/audit-log.ts'
import type { Actor } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import type { ResumePoint } from '../compile/frame.ts'
import type { Flows } from '../flows.ts'
import type { LiveBlueprint } from '../live/live-blueprints.ts'
import { flowsOf } from '../live/versions.ts'
import { waitJob } from '../run/store-wait.ts'
import { storedKeys, type WaitRecord, waitRecordOf } from '../run/wait-record.ts'

/** What is known of versions. */
export type KnownVersions = Pick<Flows, 'live' | 'versions'>

/** A run that was not moved. */
export interface UnmovedWait {
  readonly wait: string
  readonly title: string
  readonly reason: string
}

export interface WaitsToMove {
  readonly blueprint: string
  /** Guids; all of the blueprint if not given. */
  readonly waits?: readonly string[] | undefined
  /** Those whose job has failed continue again. */
  readonly again: boolean
  /** Only says what would be done. */
  readonly dryRun: boolean
  /** Cursor of the call before. */
  readonly after?: string | undefined
}

export interface MovedWaits {
  /** Number of the present version. */
  readonly version: number
  readonly moved: number
  /** Those that had failed and continue again: moved now or before. */
  readonly continued: number
  readonly unmoved: readonly UnmovedWait[]
  /** Cursor for the rest; undefined where all were looked at. */
  readonly next: string | undefined
}

interface Parts {
  readonly database: Pick<Database, 'session' | 'capabilities'>
  readonly audit: Pick<AuditLog, 'record'>
  readonly flows: KnownVersions
}

/** Each is a transaction of its own: 2,000 take a few seconds. */
const MOST = 2_000
const AT_ONCE = 100

export async function moveWaits(parts: Parts, requested: WaitsToMove, by: Actor): Promise<MovedWaits> {
  const { blueprint, waits, again, dryRun } = requested
  const present = presentVersion(parts.flows, blueprint)
  const query: Query = { kind: 'term', field: 'blueprint', value: blueprint }
  const named: Query | undefined = waits && { kind: 'terms', field: '_meta.guid', values: waits }
  const all: Query = named ? { kind: 'and', queries: [query, named] } : query
  const sort = [{ field: '_meta.guid', order: 'asc', missing: 'last' }] as const
  const unmoved: UnmovedWait[] = []
  let [moved, continued, looked] = [0, 0, 0]
  let { after } = requested
  do {
    const page = search({ query: all, sort, limit: AT_ONCE, ...(after !== undefined && { after }) })
    const found = await parts.database.session().find(systemStorages.waits, page)
    for (const record of documentsOf(found).map(waitRecordOf)) {
      looked += 1
      const done = await moveOne(parts, present, record, { again, dryRun }, by)
      if (done.reason !== undefined)
        unmoved.push({ wait: record.guid, title: record.title, reason: done.reason })
      if (done.moved) moved += 1
      if (done.continued) continued += 1
    }
    after = found.next()
  } while (after !== undefined && looked < MOST)
  return { version: present.deployment, moved, continued, unmoved, next: after }
}

/**
 * How many runs of a blueprint wait, and have failed to continue, and how many of each could continue on a version that is not deployed
 * yet: `fitting`, and `mended`.
 */
export async function fittingWaits(
  { database, flows }: Pick<Parts, 'database' | 'flows'>,
  candidate: LiveBlueprint,
): Promise<Record<'waiting' | 'fitting' | 'failed' | 'mended', number>> {
  const ofBlueprint: Query = { kind: 'term', field: 'blueprint', value: candidate.compiled.guid }
  const waits: Query = { kind: 'term', field: 'state', value: 'waiting' }
  const session = database.session()
  const waiting = await session.count(systemStorages.waits, { kind: 'and', queries: [ofBlueprint, waits] })
  const all = await session.count(systemStorages.waits, ofBlueprint)
  const counts = { waiting, fitting: 0, failed: 0, mended: 0 }
  let looked = 0
  let after: string | undefined
  do {
    const page = search({ query: ofBlueprint, limit: AT_ONCE, ...(after !== undefined && { after }) })
    const found = all === 0 ? undefined : await session.find(systemStorages.waits, page)
    for (const record of found ? documentsOf(found).map(waitRecordOf) : []) {
      looked += 1
      const stands = await standingOf({ database }, record)
      if (stands === 'failed') counts.failed += 1
      if (stands !== 'failed' && stands !== 'waiting') continue
      if ((await misfitOf(flows, candidate, record)) === undefined)
        counts[stands === 'failed' ? 'mended' : 'fitting'] += 1
    }
    after = found?.next()
  } while (after !== undefined && looked < MOST)
  return counts
}

interface Done {
  readonly reason?: string
  readonly moved?: boolean
  readonly continued?: boolean
}

async function moveOne(
  parts: Parts,
  present: LiveBlueprint,
  record: WaitRecord,
  { again, dryRun }: Pick<WaitsToMove, 'again' | 'dryRun'>,
  by: Actor,
): Promise<Done> {
  const stands = await standingOf(parts, record)
  const moved = record.deployment !== present.deployment
  const continued = again && stands === 'failed'
  if (!moved && !continued) return {}
  if (stands === 'running') return { reason: 'Its run continues at this moment.' }
  const reason = await misfitOf(parts.flows, present, record)
  if (reason !== undefined) return { reason }
  if (dryRun) return { moved, continued }
  const written = await writeMove(parts, record, { deployment: present.deployment, continued }, by)
  return written ? { moved, continued } : { reason: 'It has changed meanwhile.' }
}

/** `present`: on the present version. */
export async function continueAgain(
  parts: Parts,
  record: WaitRecord,
  present: boolean,
  by: Actor,
): Promise<void> {
  if ((await standingOf(parts, record)) !== 'failed')
    throw new QuoinError('CONFLICT', 'The wait has ended meanwhile, or its job continues the run already.')
  const version = present ? presentVersion(parts.flows, record.blueprint) : undefined
  const reason = version && (await misfitOf(parts.flows, version, record))
  if (reason !== undefined) throw new QuoinError('CONFLICT', reason)
  const deployment = version?.deployment ?? record.deployment
  if (!(await writeMove(parts, record, { deployment, continued: true }, by)))
    throw new QuoinError('CONFLICT', 'The wait has changed meanwhile. Read it again.')
}

/** `failed`: a job has failed to continue it, and is dead, tried later, or gone. */
async function standingOf(
  { database }: Pick<Parts, 'database'>,
  { state, job }: WaitRecord,
): Promise<'waiting' | 'due' | 'running' | 'failed'> {
  if (state === 'waiting') return 'waiting'
  const found = await database.capabilities.jobs.get(job)
  if (found?.state === 'running') return 'running'
  return found?.state === 'waiting' && found.attempt === 0 ? 'due' : 'failed'
}

/** What its wait was ended with stays. False: it has changed since it was read. */
async function writeMove(
  { database, audit }: Parts,
  record: WaitRecord,
  { deployment, continued }: { readonly deployment: number; readonly continued: boolean },
  by: Actor,
): Promise<boolean> {
  const { guid, title, state, updateHash } = record
  const outcome = await transact(
    database,
    async (session) => {
      const job = continued ? ((await session.enqueue(waitJob(record))) ?? '') : record.job
      const fields = setFields({ deployment, job })
      const written = await session.update(systemStorages.waits, guid, fields, { updateHash })
      if (written.outcome !== 'written') throw new Changed()
      await audit.record(session, {
        ...{ category: 'waits', action: 'updated', guid, name: title },
        before: { state, version: record.deployment },
        after: { state, version: deployment, ...(continued && { continued_again: true }) },
      })
    },
    { user: by },
  ).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Changed) return false
      throw error
    },
  )
  // Left over after a crash, it finds that another job goes on with the wait.
  if (outcome && continued && record.job !== '') await database.capabilities.jobs.cancel(record.job)
  return outcome
}

class Changed extends Error {}

/** The present version of a blueprint. Throws CONFLICT while it is not active. */
function presentVersion({ live }: KnownVersions, blueprint: string): LiveBlueprint {
  const found = live.table().blueprints.get(blueprint)
  if (found) return found
  throw new QuoinError('CONFLICT', 'The blueprint is not active, so it has no present version. Activate it.')
}

/** Why a run cannot continue on this version, in whole sentences; undefined where it can. */
async function misfitOf(
  versions: Pick<KnownVersions, 'versions'>,
  present: LiveBlueprint,
  record: WaitRecord,
): Promise<string | undefined> {
  const point = pointIn(present.compiled, record)
  if (!point)
    return `Version ${present.deployment} has no block ${record.block} behind the trigger ${record.trigger} at which a run can wait. Deploy a version with the block.`
  const former = await formerPoint(versions, present, record)
  if (former && former.type !== point.type)
    return `In version ${present.deployment} the block is of the type ${point.type}; it was ${former.type}.`
  const known = former ? new Set(former.reads().keys()) : storedKeys(record)
  const missing = [...point.reads()].flatMap(([key, words]) => (known.has(key) ? [] : [words]))
  if (missing.length === 0) return undefined
  const some = missing.slice(0, 10).join(', ')
  return `The blocks behind the wait read ${some}${missing.length > 10 ? ', …' : ''}, which is not stored with the run: no block of its version read that behind the wait. Read it behind the wait from a document.`
}

function pointIn(compiled: CompiledBlueprint, { trigger, block }: WaitRecord): ResumePoint | undefined {
  return flowsOf(compiled)
    .find((flow) => flow.trigger === trigger)
    ?.resumePoints?.get(block)
}

/** Undefined where its version does not compile any more, which may be why it is moved. */
async function formerPoint(
  { versions }: Pick<KnownVersions, 'versions'>,
  present: LiveBlueprint,
  record: WaitRecord,
): Promise<ResumePoint | undefined> {
  const compiled = await versions.compiled(present, record.deployment).catch((error: unknown) => {
    if (error instanceof QuoinError) return undefined
    throw error
  })
  return compiled && pointIn(compiled, record)
}
