/** The transaction of a release, and what follows it: nodes serve it, first documents are written, runs that wait continue on it. */
import { holds } from '../access/scopes.ts'
import { moveWaits } from '../flows/background/move-waits.ts'
import { queueSteering } from '../flows/background/queue-steering.ts'
import { type DeployParts, dropUnusedIndexes } from '../flows/live/deploy-blueprint.ts'
import { originIn } from '../flows/run/job-payload.ts'
import { settleUnique } from '../records/fields/unique-fields.ts'
import { subjectOf } from '../records/permissions/judge.ts'
import type { Actor } from '../records/records.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Application } from '../shared/application/application.ts'
import type { ObjectChange } from '../shared/application/application-changes.ts'
import { pauses } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Session } from '../storage/database.ts'
import { textIn, textsIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { type Job, JobRefused } from '../storage/job.ts'
import { type JointWork, jointly } from '../storage/joint-database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { type Applied, applyRelease, type Publisher } from './apply-release.ts'
import { changedQueues } from './cluster-objects.ts'
import {
  type ApplicationParts,
  type ApplicationPlan,
  changedMeanwhile,
  type Known,
  knownApplication,
  releaseParts,
  renamedIn,
} from './known-application.ts'
import { prepareStorages, type ReleasePlan, type TriedRelease } from './plan-release.ts'
import { preparedValues } from './prepared-fields.ts'
import { ownedObjectsIn, type PresentApplication } from './present-application.ts'
import { lockedRecord, releaseContent, removeReleases, writeRelease } from './release-records.ts'
import { enqueueSeeds, leftSeeds, seedingOf, writeSeeds } from './seed-documents.ts'

interface Release {
  readonly known: Known
  readonly requested: Application
  readonly plan: ApplicationPlan
  readonly tried: TriedRelease
  readonly by: Publisher
  readonly isRemoval?: boolean
}

interface Committed {
  /** What failed once the release was there. */
  readonly problems: readonly string[]
  readonly seeding: Seeding | undefined
}

/** The job that has what first documents are due. */
interface Seeding {
  readonly job: string
  readonly storages: readonly string[]
}

/** Until the release is there errors are those of its parts, and nothing was changed. */
export async function commitRelease(
  parts: ApplicationParts,
  deploy: DeployParts,
  release: Release,
): Promise<Committed> {
  const { database } = parts.flows.records
  const { known, requested, plan, tried, by } = release
  try {
    await prepareStorages(database, known.present, tried)
    const { served, dropped, seeding } = await writtenRelease(parts, deploy, release)
    const table = parts.flows.live.table().blueprints
    const used = [...served].flatMap(([guid, next]) => [table.get(guid), next])
    const needed = used.flatMap((one) => [...(one?.compiled.needs.keys() ?? [])])
    const { live } = parts.flows
    const problems = [
      ...(await afterCommit(parts, plan.changes, requested, by)),
      ...(await following(deploy.log, 'serving its blueprints', () => deploy.serve(served))),
      ...(await following(deploy.log, 'dropping storages', () => dropStorages(parts, dropped))),
      ...(await following(deploy.log, 'dropping unused indexes', () =>
        dropUnusedIndexes(database, live, needed, deploy.log),
      )),
    ]
    return { problems, seeding }
  } finally {
    // By the rules that are stored now, whichever they are. Should it fail, the next start does it.
    const pause = pauses()
    for (const storage of tried.rules.keys()) {
      await pause()
      if (database.has(storage)) await settleUnique(database, storage).catch(() => undefined)
    }
  }
}

interface WrittenRelease {
  readonly served: Applied['served']
  readonly dropped: JointWork['dropped']
  readonly seeding: Seeding | undefined
}

/** The transaction. */
async function writtenRelease(
  parts: ApplicationParts,
  deploy: DeployParts,
  { known, requested, plan, tried, by, isRemoval = false }: Release,
): Promise<WrittenRelease> {
  const { database } = parts.flows.records
  let isWritten = false
  const write = async (joint: JointWork): Promise<WrittenRelease> => {
    const session = joint.database.session()
    const guid = await lockedRecord(session, requested)
    // As it is now that no other transaction can change what the plan has read.
    const now = await knownApplication(deploy, session, requested)
    const renamed = await renamedIn(database, now, requested)
    if (now.state !== known.state || renamed.some((one) => one.state === 'due')) throw changedMeanwhile()
    const preparedIn = async ({ present }: Known) =>
      arePrepared(await preparedValues(database, present, requested, plan.changes))
    const are = await preparedIn(now)
    if ((await preparedIn(known)).some((was, at) => was && !are[at])) throw changedMeanwhile()
    const { objects, served } = await applyRelease({
      ...{ parts: releaseParts(parts, deploy), joint, present: known.present, requested, by },
      ...{ changes: plan.changes, read: tried.read },
    })
    const written = { guid, plan, agent: by.agent, approvedBy: by.approvedBy }
    const { audit } = parts.documents
    const seeded = textIn(now.record?.seeding)
    let seeding: Seeding | undefined
    if (isRemoval) await removeReleases(session, audit, written)
    else {
      const isFirst = known.record === undefined
      seeding = await dueSeeding(parts, session, { known, plan, tried, by })
      const more = { seeding: seeding?.job ?? '', former: formerOf(known.present, objects) }
      await writeRelease(session, audit, { ...written, ...more, objects, requested, by: by.actor, isFirst })
    }
    // What it has left is of this release now.
    if (seeded !== '') await session.transaction.endJob(seeded)
    if (by.draft) await session.delete(systemStorages.drafts, by.draft.guid, by.draft)
    isWritten = true
    return { served, dropped: joint.dropped, seeding }
  }
  try {
    const options = { origin: { user: by.actor }, trial: false, prepared: tried.needed }
    return await jointly(database, options, write)
  } catch (error) {
    // It may be committed all the same, where only the answer is missing.
    if (isWritten) await parts.flows.deployments.restore().catch(() => undefined)
    throw error
  }
}

/** Guids of the blueprints that it has no longer. */
function formerOf({ former, objects: before }: PresentApplication, objects: Applied['objects']) {
  const gone = { ...former, ...before.blueprints }
  return Object.fromEntries(
    Object.entries(gone).filter(([object]) => objects.blueprints[object] === undefined),
  )
}

/** Its job. Not of what the release before has written since the plan, which it no longer does: the record is locked. */
async function dueSeeding(
  { flows: { records } }: ApplicationParts,
  session: Session,
  { known: { record }, plan, tried, by }: Pick<Release, 'known' | 'plan' | 'tried' | 'by'>,
): Promise<Seeding | undefined> {
  const left = await leftSeeds(records.database, record)
  const storages = tried.seeds.filter((one) => !tried.leftSeeds.includes(one) || left.includes(one))
  const { application, release } = plan
  const as = { by: by.actor, scopes: by.identity.scopes, now: records.clock() }
  const job = await enqueueSeeds(session, { application, release, storages }, as)
  return job === '' ? undefined : { job, storages }
}

const arePrepared = (values: Awaited<ReturnType<typeof preparedValues>>) =>
  values.map(({ state }) => state === 'prepared')

async function dropStorages({ flows, documents }: ApplicationParts, dropped: readonly string[]) {
  const pause = pauses()
  for (const storage of dropped) {
    await pause()
    await flows.records.database.drop(storage)
    await documents.history.forget(storage)
  }
  if (dropped.length > 0) await documents.history.refresh()
}

/** A release that is live is no error because of what follows it: a failure is a problem of the reply, its cause is in the log. */
export async function following(
  log: SystemLog['write'],
  what: string,
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  try {
    await work()
    return []
  } catch (error) {
    const failed = `The release is live, and ${what} failed: `
    const cause = error instanceof Error ? error.message : String(error)
    log({ level: 'error', message: `${failed}${cause}` })
    return [`${failed}${error instanceof QuoinError ? cause : 'internal error, see the system log.'}`]
  }
}

/** What nodes keep in memory, and queues, which are no documents: should the process end before, the next plan says so. */
async function afterCommit(
  { flows, documents }: ApplicationParts,
  changes: ReleasePlan['changes'],
  requested: Application,
  { actor }: Publisher,
): Promise<readonly string[]> {
  const problems: string[] = []
  const follow = async (what: string, work: () => Promise<unknown>) =>
    void problems.push(...(await following(flows.log.write, what, work)))
  // First: what new blueprints write is recorded from their first run on.
  await follow('recording the history of storages', () => documents.history.refresh())
  if (changes.some(({ map }) => map === 'connections'))
    await follow('reading connections', () => flows.connections.refresh())
  await follow('reading texts', () => flows.texts.refresh())
  const steering = queueSteering(flows.records.database, documents.audit)
  const pause = pauses()
  for (const [queue, concurrency] of changedQueues(changes, requested)) {
    await pause()
    await follow(`configuring the queue ${queue}`, () => steering.configure(queue, { concurrency }, actor))
  }
  return problems
}

/** The rules of a storage that was there before bind the caller, as they do through every other door. */
export async function seedDocuments(
  { flows, documents }: ApplicationParts,
  requested: Application,
  { job, storages }: Seeding,
  { identity: { user, scopes }, actor }: Pick<Publisher, 'identity' | 'actor'>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { database } = flows.records
  const permitted = flows.permissions.database(database, subjectOf(user, scopes))
  const writer = { context: documents, permitted, by: actor, job, ...(signal && { signal }) }
  const problems = await writeSeeds(writer, requested, storages)
  // A worker that has it ends it itself.
  if (!signal) await database.capabilities.jobs.cancel(job)
  return problems
}

/**
 * Goes on with the first documents of a release whose process ended before they were written. As who has pushed, with what the user holds
 * now and no more than the push was sent with.
 */
export async function continueSeeds(
  parts: ApplicationParts,
  { guid: job, payload }: Pick<Job, 'guid' | 'payload'>,
  signal: AbortSignal,
): Promise<void> {
  const { flows, access, documents } = parts
  const { database } = flows.records
  // Who releases has the lock until the documents are written.
  await database.capabilities.withClusterLock('deployments', async () => undefined)
  const record = await findOne(database.session(), systemStorages.applications, 'seeding', job)
  if (!record) return
  // Its flows hear of the documents, on this node too.
  await flows.deployments.restore()
  await documents.history.refresh()
  const { application, release, storages } = seedingOf(payload)
  const { user: by } = originIn(payload)
  const user = by && (await access.activeUser(by.guid))
  if (!user)
    throw new JobRefused(
      `${by?.username}, who released ${application}, is not active any more. Push it again.`,
    )
  const pushed = new Set(textsIn(payload.scopes))
  const scopes = holds(pushed, '*')
    ? user.scopes
    : new Set([...pushed].filter((scope) => holds(user.scopes, scope)))
  const identity = { ...by, scopes, user: user.user, tokenGuid: '' }
  const requested = await releaseContent(database.session(), application, release)
  const problems = await seedDocuments(parts, requested, { job, storages }, { identity, actor: by }, signal)
  for (const problem of problems)
    flows.log.write({ level: 'warn', message: `First documents of ${application} were refused: ${problem}` })
}

/** That are named, of a call. */
const MOST_UNMOVED = 20

interface MovedToRelease {
  /** Those that stay, and why. */
  readonly problems: readonly string[]
  readonly movedWaits: number
}

/** Runs that wait continue on a release that is live, and those that have failed to continue do so again. Should the process end before, they can be moved by hand. */
export async function movedToRelease(
  { flows, documents }: ApplicationParts,
  record: JsonObject,
  changes: readonly ObjectChange[],
  by: Actor,
): Promise<MovedToRelease> {
  const { blueprints } = ownedObjectsIn(record.objects)
  const parts = { database: flows.records.database, audit: documents.audit, flows }
  const problems: string[] = []
  let movedWaits = 0
  for (const { map, object, change } of changes) {
    const blueprint = blueprints[object]
    if (map !== 'blueprints' || change !== 'changed' || blueprint === undefined) continue
    let after: string | undefined
    do {
      const done = await moveWaits(parts, { blueprint, again: true, dryRun: false, after }, by)
      movedWaits += done.moved
      for (const { wait, title, reason } of done.unmoved.slice(0, MOST_UNMOVED))
        problems.push(`blueprints/${object}.json: the run that waits at ${title || wait} stays: ${reason}`)
      after = done.next
    } while (after !== undefined)
  }
  return { problems, movedWaits }
}
