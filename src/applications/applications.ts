/**
 * Applications of a cluster: which objects belong to one, and its releases. A release keeps the whole application, so that it can be
 * pulled, compared and pushed again.
 *
 * A push: plan (a trial that is rolled back) → copy the values of renamed fields, by jobs that are not waited for: the same push is sent
 * again until they have ended → prepare what is no part of a transaction (storages, indexes, unique keys), while the old release serves → one transaction with all records, the release and its audit record → every node serves the new blueprints before
 * the push is answered. A node that dies before the commit leaves the old release, and what was prepared is found or taken back later;
 * after it, the new one. Pushes of all applications happen one after the other.
 */
import { createHash } from 'node:crypto'
import type { Access } from '../access/access.ts'
import { endPreparation } from '../flows/background/field-migrations.ts'
import { queueSteering } from '../flows/background/queue-steering.ts'
import type { Flows } from '../flows/flows.ts'
import { type DeployParts, dropUnusedIndexes } from '../flows/live/deploy-blueprint.ts'
import { MOST_COMPARED_MS } from '../flows/trace/compare-runs.ts'
import { aloneWithUnique, settleUnique } from '../records/fields/unique-fields.ts'
import { subjectOf } from '../records/permissions/judge.ts'
import type { StorageContext } from '../records/storage-records.ts'
import { type Application, nameOfApplication, normalSteps } from '../shared/application/application.ts'
import {
  applicationChanges,
  changeText,
  pushedMaps,
  releasedOnly,
} from '../shared/application/application-changes.ts'
import { pauses, runCooperatively } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { matchAll } from '../shared/query.ts'
import type { Session } from '../storage/database.ts'
import { numberIn, textIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { jointly } from '../storage/joint-database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { applyRelease, isPrepared, type Publisher, type ReleaseParts } from './apply-release.ts'
import type { DescribeTable } from './broken-contract.ts'
import { applicationProblems } from './check-application.ts'
import { changedQueues } from './cluster-objects.ts'
import { documentReader } from './connection-documents.ts'
import { movedToRelease } from './moved-waits.ts'
import { planRelease, prepareStorages, type ReleasePlan, type TriedRelease } from './plan-release.ts'
import { leftPreparations, type PreparedValues, preparedValues, prepareValues } from './prepared-fields.ts'
import {
  nothingOwned,
  ownedObjectsIn,
  type PresentApplication,
  presentApplication,
} from './present-application.ts'
import {
  changedMeanwhile,
  checkOptions,
  type PushOptions,
  readApplication,
  refuse,
  unusable,
} from './read-application.ts'
import {
  ensureReleases,
  lockedRecord,
  releaseContent,
  releasesOf,
  removeReleases,
  writeRelease,
} from './release-records.ts'
import type { ApplicationPlan, Preparing, Released } from './release-results.ts'
import {
  copyValues,
  leftCopies,
  type RenamedField,
  removeCopies,
  renamedFields,
  withRenamesBack,
} from './renamed-fields.ts'
import { writeSeeds } from './seed-documents.ts'
import { type OtherApplication, otherApplications } from './shared-storages.ts'
import {
  type CompareRuns,
  type ToVerify,
  toVerify,
  type VerifiedBlueprint,
  verifyChanged,
} from './verified-push.ts'

/** Of a cluster. */
const MOST_APPLICATIONS = 1_000

export interface Applications {
  list(): Promise<readonly JsonObject[]>
  /** NOT_FOUND. */
  get(name: string): Promise<JsonObject>
  /** As the cluster has it now, for a folder. */
  read(name: string): Promise<Application>
  plan(input: JsonObject, by: Publisher): Promise<ApplicationPlan>
  /** Of a push without anything, after which there is no application. NOT_FOUND. */
  planRemoval(name: string, by: Publisher): Promise<ApplicationPlan>
  /** CONFLICT for another state, for what is refused, and for what would be lost and may not be. */
  push(input: JsonObject, options: PushOptions, by: Publisher): Promise<Released | Preparing>
  /** Compares recorded runs, if the options ask for it, and changes nothing. CONFLICT as a push. */
  verify(
    input: JsonObject,
    options: PushOptions,
    by: Publisher,
  ): Promise<readonly VerifiedBlueprint[] | undefined>
  /** All of its objects, its releases, and then its name is free. CONFLICT as a push. */
  remove(name: string, options: PushOptions, by: Publisher): Promise<ApplicationPlan>
  /** The newest first, without what they hold. */
  releases(name: string): Promise<readonly JsonObject[]>
  /** What a release holds. NOT_FOUND. */
  released(name: string, release: number): Promise<Application>
  /** What a release holds, with the storages that have documents now: to push it again. */
  former(name: string, release: number): Promise<Application>
}

export interface ApplicationParts {
  readonly flows: Flows
  readonly access: Access
  readonly documents: StorageContext
  /** Of this Quoin. */
  readonly version: string
  readonly describe: DescribeTable
  readonly compare: CompareRuns
}

export async function openApplications(parts: ApplicationParts): Promise<Applications> {
  const { database } = parts.flows.records
  await ensureReleases(database)
  return new ClusterApplications(parts)
}

interface Known {
  /** undefined before its first release. */
  readonly record: JsonObject | undefined
  readonly present: PresentApplication
  readonly state: string
  readonly others: readonly OtherApplication[]
}

class ClusterApplications implements Applications {
  readonly #parts: ApplicationParts

  constructor(parts: ApplicationParts) {
    this.#parts = parts
  }

  get #database() {
    return this.#parts.flows.records.database
  }

  list(): Promise<readonly JsonObject[]> {
    return findAll(this.#database.session(), systemStorages.applications, matchAll, MOST_APPLICATIONS)
  }

  async get(name: string): Promise<JsonObject> {
    const record = await findOne(this.#database.session(), systemStorages.applications, 'name', name)
    if (!record) throw new QuoinError('NOT_FOUND', `There is no application ${JSON.stringify(name)}.`)
    return record
  }

  async read(name: string): Promise<Application> {
    return (await this.#present(name)).now
  }

  async #present(name: string): Promise<{ readonly now: Application; readonly present: PresentApplication }> {
    const record = await this.get(name)
    const stored = await releaseContent(this.#database.session(), name, numberIn(record.release))
    const known = await this.#parts.flows.deployments.together((deploy) =>
      this.#known(deploy, this.#database.session(), { ...stored, ...nothing }),
    )
    const { about, seed, tests } = stored
    return { now: { ...known.present.application, about, seed, tests }, present: known.present }
  }

  plan(input: JsonObject, by: Publisher): Promise<ApplicationPlan> {
    return this.#alone(async (deploy) => {
      const requested = await readApplication(input)
      const known = await this.#known(deploy, this.#database.session(), requested)
      return this.#planOf(requested, known, (await this.#try(deploy, known, requested, by)).plan)
    })
  }

  async planRemoval(name: string, by: Publisher): Promise<ApplicationPlan> {
    await this.get(name)
    return asRemoval(await this.plan(withoutObjects(name), by))
  }

  async remove(name: string, { state, allowLoss }: PushOptions, by: Publisher): Promise<ApplicationPlan> {
    await this.get(name)
    const requested = await readApplication(withoutObjects(name))
    return this.#alone(async (deploy) => {
      const known = await this.#known(deploy, this.#database.session(), requested)
      if (known.state !== state) throw changedMeanwhile()
      const tried = await this.#try(deploy, known, requested, by)
      refuse(tried.plan, allowLoss)
      const plan = asRemoval(await this.#planOf(requested, known, tried.plan))
      await this.#release(deploy, { known, requested, plan, tried, by, isRemoval: true })
      return plan
    })
  }

  async verify(input: JsonObject, { state, allowLoss, verify }: PushOptions, by: Publisher) {
    if (!verify) return undefined
    const requested = await readApplication(input)
    const asked = await this.#alone(async (deploy) => {
      const known = await this.#known(deploy, this.#database.session(), requested)
      if (known.state !== state) throw changedMeanwhile()
      const tried = await this.#try(deploy, known, requested, by)
      refuse(tried.plan, allowLoss)
      return toVerify(verify, tried, known.present)
    })
    return this.#verify(asked)
  }

  #verify(asked: ToVerify) {
    const until = this.#parts.flows.records.clock() + MOST_COMPARED_MS
    return verifyChanged(this.#parts.compare, asked, until)
  }

  async push(input: JsonObject, options: PushOptions, by: Publisher): Promise<Released | Preparing> {
    const { state, allowLoss, moveWaits = false, verify } = options
    checkOptions(options, by.deployer.lacks)
    const database = this.#database
    const requested = await readApplication(input)
    const application = nameOfApplication(requested)
    const pushed = await this.#alone(async (deploy) => {
      const known = await this.#known(deploy, database.session(), requested)
      if (known.state !== state) throw changedMeanwhile()
      const renamed = await this.#renamed(known, requested)
      const values = await preparedValues(database, known.present, requested, changesIn(known, requested))
      const isUnderWay = ({ state: now }: RenamedField | PreparedValues) =>
        now === 'copying' || now === 'preparing' || now === 'stopped'
      if ([...renamed, ...values].some(isUnderWay))
        return { known, renamed, values: values.filter(isUnderWay) }
      const tried = await this.#try(deploy, known, requested, by)
      refuse(tried.plan, allowLoss)
      if (tried.due.length > 0 || renamed.some((one) => one.state === 'due'))
        return { known, renamed, values: tried.due }
      // Values are where the new blocks read them. Nothing else has to wait while runs are repeated.
      if (verify) return toVerify(verify, tried, known.present)
      const plan = await this.#planOf(requested, known, tried.plan)
      await this.#release(deploy, { known, requested, plan, tried, by })
      return {
        ...plan,
        problems: await this.#seed(requested, by),
        left: leftCopies(known.present, requested, renamed),
        leftValues: leftPreparations(known.present, requested, values),
      }
    })
    if ('toVerify' in pushed) {
      const verified = await this.#verify(pushed)
      const done = await this.push(input, { state, allowLoss, moveWaits }, by)
      return 'problems' in done ? { ...done, verified } : done
    }
    // The rest not within it: what is unique by a field changes in a turn of its own.
    if ('problems' in pushed) {
      const { left, leftValues, ...live } = pushed
      for (const { record } of left) await removeCopies(database, record, by.actor)
      for (const { record } of leftValues) await endPreparation(database, record, by.actor)
      const moved = moveWaits ? await this.#moveWaits(live, by) : { problems: [], movedWaits: 0 }
      return { ...live, problems: [...live.problems, ...moved.problems], movedWaits: moved.movedWaits }
    }
    const { known, renamed, values } = pushed
    const preparing = [
      ...(await copyValues(database, renamed, application, by.actor)),
      ...(await prepareValues(database, values, application, by.actor)),
    ]
    return { application, release: numberIn(known.record?.release) + 1, preparing }
  }

  async #planOf(
    requested: Application,
    { record, state }: Known,
    plan: ReleasePlan,
  ): Promise<ApplicationPlan> {
    const application = nameOfApplication(requested)
    const number = numberIn(record?.release)
    const before = number > 0 && (await releaseContent(this.#database.session(), application, number))
    const steps = before ? [...plan.steps, ...releasedOnly(before, requested)] : plan.steps
    return { application, release: number + 1, state, ...plan, steps }
  }

  #renamed(known: Known, requested: Application): Promise<readonly RenamedField[]> {
    const isConverted = (storage: string, name: string) => isPrepared(requested, storage, name)
    return renamedFields(this.#database, known.present, changesIn(known, requested), isConverted)
  }

  async releases(name: string): Promise<readonly JsonObject[]> {
    await this.get(name)
    return releasesOf(this.#database.session(), name)
  }

  released(name: string, release: number): Promise<Application> {
    return releaseContent(this.#database.session(), name, release)
  }

  async former(name: string, release: number): Promise<Application> {
    const content = await releaseContent(this.#database.session(), name, release)
    const { now, present } = await this.#present(name)
    const remaining: Record<string, JsonObject> = {}
    for (const [storage, value] of Object.entries(now.storages)) {
      if (content.storages[storage] !== undefined || !this.#database.has(storage)) continue
      if ((await this.#database.session().count(storage, matchAll, true)) > 0) remaining[storage] = value
    }
    const { storages } = withRenamesBack(content, present)
    return runCooperatively(normalSteps({ ...content, storages: { ...remaining, ...storages } }))
  }

  /** Nothing else is deployed meanwhile, and no unique key changes. */
  #alone<T>(work: (deploy: DeployParts) => Promise<T>): Promise<T> {
    return this.#parts.flows.deployments.together((deploy) =>
      aloneWithUnique(this.#database, () => work(deploy)),
    )
  }

  async #known(parts: DeployParts, session: Session, requested: Application): Promise<Known> {
    const name = nameOfApplication(requested)
    const all = await findAll(session, systemStorages.applications, matchAll, MOST_APPLICATIONS)
    const record = all.find((one) => one.name === name)
    const owners = new Map<string, string>()
    for (const other of all) {
      const objects = ownedObjectsIn(other.objects)
      for (const map of pushedMaps)
        for (const guid of Object.values(objects[map])) owners.set(guid, textIn(other.name))
    }
    const owned = record ? ownedObjectsIn(record.objects) : nothingOwned
    const present = await presentApplication({ parts, session, owned, requested, owners })
    const served = Object.entries(present.blueprints).map(([object, { isServed }]) => [object, isServed])
    const others = otherApplications(all, requested)
    const shared = others.map(({ name: other, offers, uses }) => [other, offers, uses])
    const seen = [shared, present.hashes, present.adopted, present.clashes, served, record?.release ?? 0]
    return { record, present, others, state: createHash('sha256').update(JSON.stringify(seen)).digest('hex') }
  }

  async #try(
    deploy: DeployParts,
    { present, others }: Known,
    requested: Application,
    by: Publisher,
  ): Promise<TriedRelease> {
    const { flows, version, describe } = this.#parts
    const live = flows.live.copy()
    live.setAll(new Map([...live.table().blueprints.keys()].map((guid) => [guid, undefined])))
    const read = documentReader()
    const problems = await applicationProblems(requested, { catalogue: flows.catalogue, live, read })
    const wrong = problems.filter(({ warning }) => warning === undefined)
    if (wrong.length > 0)
      throw unusable(
        wrong.map(
          ({ map, object, message, block, pin }) =>
            `${[map, object, block, pin].filter(Boolean).join('.')}: ${message}`,
        ),
      )
    return planRelease(
      { flows, others, version, describe, release: this.#releaseParts(deploy), read },
      present,
      requested,
      by,
    )
  }

  #releaseParts(deploy: DeployParts): ReleaseParts {
    const { flows, access, documents } = this.#parts
    return { deploy, access, documents, random: flows.random, newGuid: flows.newGuid }
  }

  async #release(deploy: DeployParts, release: Release): Promise<void> {
    const database = this.#database
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
          const now = await this.#known(deploy, session, requested)
          const renamed = await this.#renamed(now, requested)
          if (now.state !== known.state || renamed.some((one) => one.state === 'due'))
            throw changedMeanwhile()
          const parts = this.#releaseParts(deploy)
          const applied = await applyRelease({
            parts,
            joint,
            present: known.present,
            requested,
            by,
            changes: plan.changes,
            read: tried.read,
          })
          const { objects } = applied
          const { agent, approvedBy } = by
          const written = { guid, objects, requested, plan, by: by.actor, agent, approvedBy }
          const isFirst = known.record === undefined
          const { audit } = this.#parts.documents
          if (isRemoval) await removeReleases(session, audit, { guid, plan, agent, approvedBy })
          else await writeRelease(session, audit, { ...written, isFirst })
          return { served: applied.served, dropped: joint.dropped }
        },
      )
      const table = this.#parts.flows.live.table().blueprints
      const used = [...served].flatMap(([guid, next]) => [table.get(guid), next])
      await this.#afterCommit(plan.changes, requested, by)
      await deploy.serve(served)
      const pause = pauses()
      for (const storage of dropped) {
        await pause()
        await database.drop(storage)
        await this.#parts.documents.history.forget(storage)
      }
      await this.#parts.documents.history.refresh()
      const needed = used.flatMap((one) => [...(one?.compiled.needs.keys() ?? [])])
      await dropUnusedIndexes(database, this.#parts.flows.live, needed, deploy.log)
    } finally {
      // By the rules that are stored now, whichever they are. Should it fail, the next start does it.
      const pause = pauses()
      for (const storage of storages) {
        await pause()
        if (database.has(storage)) await settleUnique(database, storage).catch(() => undefined)
      }
    }
  }

  /** What nodes keep in memory, and queues, which are no documents: should the process end before, the next plan says so. */
  async #afterCommit(
    changes: ReleasePlan['changes'],
    requested: Application,
    { actor }: Publisher,
  ): Promise<void> {
    if (changes.some(({ map }) => map === 'connections')) await this.#parts.flows.connections.refresh()
    await this.#parts.flows.texts.refresh()
    const steering = queueSteering(this.#database, this.#parts.documents.audit)
    const pause = pauses()
    for (const [queue, concurrency] of changedQueues(changes, requested)) {
      await pause()
      await steering.configure(queue, { concurrency }, actor)
    }
  }

  async #moveWaits({ application, changes }: ApplicationPlan, { actor }: Publisher) {
    const { flows, documents } = this.#parts
    const { blueprints } = ownedObjectsIn((await this.get(application)).objects)
    return movedToRelease(
      { database: this.#database, audit: documents.audit, flows },
      blueprints,
      changes,
      actor,
    )
  }

  /** The rules of a storage that was there before bind the caller, as they do through every other door. */
  #seed(
    requested: Application,
    { identity: { user, scopes }, actor }: Publisher,
  ): Promise<readonly string[]> {
    const permitted = this.#parts.flows.permissions.database(this.#database, subjectOf(user, scopes))
    return writeSeeds(this.#parts.documents, permitted, requested, actor)
  }
}

function changesIn({ present }: Known, requested: Application) {
  return applicationChanges(present.application, requested)
}

interface Release {
  readonly known: Known
  readonly requested: Application
  readonly plan: ApplicationPlan
  readonly tried: TriedRelease
  readonly by: Publisher
  readonly isRemoval?: true
}

function withoutObjects(name: string): JsonObject {
  return { about: { name } }
}

/** What only a release has goes with all of them. */
function asRemoval(plan: ApplicationPlan): ApplicationPlan {
  const steps = [
    ...plan.changes.map(changeText),
    `removed the application ${plan.application} and its releases`,
  ]
  return { ...plan, release: plan.release - 1, steps }
}

/** A folder without anything: what is owned is read all the same. */
const nothing = {
  ...{ blueprints: {}, storages: {}, groups: {}, templates: {}, texts: {}, seed: {}, tests: {} },
  ...{ connections: {}, alerts: {}, views: {}, queues: {} },
}
