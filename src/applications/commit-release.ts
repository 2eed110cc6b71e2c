/** The transaction of a release, and what follows it: nodes serve it, first documents are written, runs that wait continue on it. */
import { moveWaits } from '../flows/background/move-waits.ts'
import { queueSteering } from '../flows/background/queue-steering.ts'
import { type DeployParts, dropUnusedIndexes } from '../flows/live/deploy-blueprint.ts'
import { settleUnique } from '../records/fields/unique-fields.ts'
import { subjectOf } from '../records/permissions/judge.ts'
import type { Actor } from '../records/records.ts'
import type { Application } from '../shared/application/application.ts'
import type { ObjectChange } from '../shared/application/application-changes.ts'
import { pauses } from '../shared/cooperative.ts'
import type { JsonObject } from '../shared/json.ts'
import { jointly } from '../storage/joint-database.ts'
import { applyRelease, type Publisher } from './apply-release.ts'
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
import { ownedObjectsIn } from './present-application.ts'
import { lockedRecord, removeReleases, writeRelease } from './release-records.ts'
import { writeSeeds } from './seed-documents.ts'

interface Release {
  readonly known: Known
  readonly requested: Application
  readonly plan: ApplicationPlan
  readonly tried: TriedRelease
  readonly by: Publisher
  readonly isRemoval?: true
}

export async function commitRelease(
  parts: ApplicationParts,
  deploy: DeployParts,
  release: Release,
): Promise<void> {
  const { database } = parts.flows.records
  const { known, requested, plan, tried, by, isRemoval = false } = release
  const storages = [...tried.rules.keys()]
  try {
    await prepareStorages(database, known.present, tried)
    const { served, dropped } = await jointly(
      database,
      { origin: { user: by.actor }, trial: false, prepared: tried.needed },
      async (joint) => {
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
        const applied = await applyRelease({
          parts: releaseParts(parts, deploy),
          joint,
          present: known.present,
          requested,
          by,
          changes: plan.changes,
          read: tried.read,
        })
        const { objects } = applied
        const written = { guid, plan, agent: by.agent, approvedBy: by.approvedBy }
        const { audit } = parts.documents
        if (isRemoval) await removeReleases(session, audit, written)
        else {
          const isFirst = known.record === undefined
          await writeRelease(session, audit, { ...written, objects, requested, by: by.actor, isFirst })
        }
        return { served: applied.served, dropped: joint.dropped }
      },
    )
    const table = parts.flows.live.table().blueprints
    const used = [...served].flatMap(([guid, next]) => [table.get(guid), next])
    await afterCommit(parts, plan.changes, requested, by)
    await deploy.serve(served)
    await dropStorages(parts, dropped)
    const needed = used.flatMap((one) => [...(one?.compiled.needs.keys() ?? [])])
    await dropUnusedIndexes(database, parts.flows.live, needed, deploy.log)
  } finally {
    // By the rules that are stored now, whichever they are. Should it fail, the next start does it.
    const pause = pauses()
    for (const storage of storages) {
      await pause()
      if (database.has(storage)) await settleUnique(database, storage).catch(() => undefined)
    }
  }
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
  await documents.history.refresh()
}

/** What nodes keep in memory, and queues, which are no documents: should the process end before, the next plan says so. */
async function afterCommit(
  { flows, documents }: ApplicationParts,
  changes: ReleasePlan['changes'],
  requested: Application,
  { actor }: Publisher,
): Promise<void> {
  if (changes.some(({ map }) => map === 'connections')) await flows.connections.refresh()
  await flows.texts.refresh()
  const steering = queueSteering(flows.records.database, documents.audit)
  const pause = pauses()
  for (const [queue, concurrency] of changedQueues(changes, requested)) {
    await pause()
    await steering.configure(queue, { concurrency }, actor)
  }
}

/** The rules of a storage that was there before bind the caller, as they do through every other door. */
export function seedDocuments(
  { flows, documents }: ApplicationParts,
  requested: Application,
  { identity: { user, scopes }, actor }: Publisher,
): Promise<readonly string[]> {
  const permitted = flows.permissions.database(flows.records.database, subjectOf(user, scopes))
  return writeSeeds(documents, permitted, requested, actor)
}

/** That are named, of a call. */
const MOST_UNMOVED = 20

interface MovedToRelease {
  /** Those that stay, and why. */
  readonly problems: readonly string[]
  readonly movedWaits: number
}

/** Runs that wait continue on a release that is live. Should the process end before, they can be moved by hand. */
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
      const done = await moveWaits(parts, { blueprint, again: false, dryRun: false, after }, by)
      movedWaits += done.moved
      for (const { wait, title, reason } of done.unmoved.slice(0, MOST_UNMOVED))
        problems.push(`blueprints/${object}.json: the run that waits at ${title || wait} stays: ${reason}`)
      after = done.next
    } while (after !== undefined)
  }
  return { problems, movedWaits }
}
