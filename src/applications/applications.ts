/**
 * Applications of a cluster: which objects belong to one, and its releases. A release keeps the whole application, so that it can be
 * pulled, compared and pushed again.
 *
 * A push: plan (a trial that is rolled back) → copy the values of renamed fields, by jobs that are not waited for: the same push is sent
 * again until they have ended → prepare what is no part of a transaction (storages, indexes, unique keys), while the old release serves → one
 * transaction with all records, the release and its audit record → every node serves the new blueprints before the push is answered. A node that dies before the commit leaves the old release, and what was prepared is found or taken back later;
 * after it, the new one. Pushes of all applications happen one after the other.
 */
import { endPreparation, MigrationChanged } from '../flows/background/field-migrations.ts'
import type { DeployParts } from '../flows/live/deploy-blueprint.ts'
import { MOST_COMPARED_MS } from '../flows/trace/compare-runs.ts'
import { aloneWithUnique } from '../records/fields/unique-fields.ts'
import { type Application, nameOfApplication, normalSteps } from '../shared/application/application.ts'
import { changeText } from '../shared/application/application-changes.ts'
import type { Files } from '../shared/application/application-files.ts'
import { runCooperatively } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { matchAll } from '../shared/query.ts'
import { numberIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { Publisher } from './apply-release.ts'
import { checkedFiles, typesIn } from './check-application.ts'
import { commitRelease, continueSeeds, following, movedToRelease, seedDocuments } from './commit-release.ts'
import {
  type ApplicationParts,
  type ApplicationPlan,
  changedMeanwhile,
  changesIn,
  checkOptions,
  type Known,
  knownApplication,
  MOST_APPLICATIONS,
  type Preparing,
  type PushOptions,
  planOf,
  type Released,
  readApplication,
  refuse,
  renamedIn,
  tryRelease,
} from './known-application.ts'
import { leftPreparations, type PreparedValues, preparedValues, prepareValues } from './prepared-fields.ts'
import { type DrawnBlueprint, drawnBlueprint, type PresentApplication } from './present-application.ts'
import { type TestedWithCoverage, testFiles } from './read-folder.ts'
import { ensureReleases, releaseContent, releasesOf } from './release-records.ts'
import { copyValues, leftCopies, type RenamedField, removeCopies, withRenamesBack } from './renamed-fields.ts'
import { type ToVerify, toVerify, type VerifiedBlueprint, verifyChanged } from './verified-push.ts'

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
  /** Runs the tests of an application as `quoin test` does, with the extensions of this cluster. VALIDATION_FAILED where they cannot be run. */
  test(
    application: Application,
    files: Files,
    signal: AbortSignal,
    answers?: boolean,
  ): Promise<TestedWithCoverage>
  /** A blueprint with all that is staged, with the application that it belongs to or with what its blocks use. NOT_FOUND. */
  drawn(blueprint: string): Promise<DrawnBlueprint>
  /** What a release holds, with the storages that have documents now: to push it again. */
  former(name: string, release: number): Promise<Application>
}

interface Committed extends Omit<Released, 'movedWaits'> {
  /** Of former pushes, which this release needs no longer. */
  readonly left: ReturnType<typeof leftCopies>
  readonly leftValues: ReturnType<typeof leftPreparations>
}

export async function openApplications(parts: Omit<ApplicationParts, 'checked'>): Promise<Applications> {
  const { database } = parts.flows.records
  await ensureReleases(database)
  const all = { ...parts, checked: checkedFiles() }
  parts.flows.whenSeedsAreLeft((job, signal) => continueSeeds(all, job, signal))
  return new ClusterApplications(all)
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
      knownApplication(deploy, this.#database.session(), { ...stored, ...nothing }),
    )
    const { about, seed, tests } = stored
    return { now: { ...known.present.application, about, seed, tests }, present: known.present }
  }

  plan(input: JsonObject, by: Publisher): Promise<ApplicationPlan> {
    return this.#alone(async (deploy) => {
      const requested = await readApplication(input)
      const known = await knownApplication(deploy, this.#database.session(), requested)
      return planOf(
        this.#database.session(),
        requested,
        known,
        (await tryRelease(this.#parts, deploy, known, requested, by)).plan,
      )
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
      const known = await this.#planned(deploy, requested, state)
      const tried = await tryRelease(this.#parts, deploy, known, requested, by)
      refuse(tried.plan, allowLoss)
      const plan = asRemoval(await planOf(this.#database.session(), requested, known, tried.plan))
      await commitRelease(this.#parts, deploy, { known, requested, plan, tried, by, isRemoval: true })
      return plan
    })
  }

  async verify(input: JsonObject, { state, allowLoss, verify }: PushOptions, by: Publisher) {
    if (!verify) return undefined
    const requested = await readApplication(input)
    const asked = await this.#alone(async (deploy) => {
      const known = await this.#planned(deploy, requested, state)
      const tried = await tryRelease(this.#parts, deploy, known, requested, by)
      refuse(tried.plan, allowLoss)
      return toVerify(verify, tried, known.present)
    })
    return this.#verify(asked, by)
  }

  #verify(asked: ToVerify, by: Publisher) {
    const until = this.#parts.flows.records.clock() + MOST_COMPARED_MS
    return verifyChanged(this.#parts.compare, asked, { by, until })
  }

  async push(input: JsonObject, options: PushOptions, by: Publisher): Promise<Released | Preparing> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#push(input, options, by)
      } catch (error) {
        // The job of an earlier release came to its end behind the look at its field: what is due is looked for again.
        if (!(error instanceof MigrationChanged) || tries === MOST_TRIES) throw error
      }
  }

  async #push(input: JsonObject, options: PushOptions, by: Publisher): Promise<Released | Preparing> {
    const { state, allowLoss, moveWaits = false, verify } = options
    checkOptions(options, by.deployer.lacks)
    const database = this.#database
    const requested = await readApplication(input)
    const application = nameOfApplication(requested)
    const pushed = await this.#alone(async (deploy) => {
      const known = await this.#planned(deploy, requested, state)
      const renamed = await renamedIn(database, known, requested)
      const values = await preparedValues(database, known.present, requested, changesIn(known, requested))
      const isUnderWay = ({ state: now }: RenamedField | PreparedValues) =>
        now === 'copying' || now === 'preparing' || now === 'stopped'
      if ([...renamed, ...values].some(isUnderWay))
        return { known, renamed, values: values.filter(isUnderWay) }
      const tried = await tryRelease(this.#parts, deploy, known, requested, by)
      refuse(tried.plan, allowLoss)
      if (tried.due.length > 0 || renamed.some((one) => one.state === 'due'))
        return { known, renamed, values: tried.due }
      // Values are where the new blocks read them. Nothing else has to wait while runs are repeated.
      if (verify) return toVerify(verify, tried, known.present)
      const plan = await planOf(this.#database.session(), requested, known, tried.plan)
      const release = { known, requested, plan, tried, by }
      const { seeding, ...committed } = await commitRelease(this.#parts, deploy, release)
      const problems = [...committed.problems]
      const seed = async () =>
        void (seeding && problems.push(...(await seedDocuments(this.#parts, requested, seeding, by))))
      problems.push(
        ...(await following(deploy.log, 'writing first documents, which a job tries again,', seed)),
      )
      return {
        ...plan,
        problems,
        left: leftCopies(known.present, requested, renamed),
        leftValues: leftPreparations(known.present, requested, values),
      }
    })
    if ('toVerify' in pushed) {
      const verified = await this.#verify(pushed, by)
      const done = await this.push(input, { state, allowLoss, moveWaits }, by)
      return 'problems' in done ? { ...done, verified } : done
    }
    if ('problems' in pushed) return this.#followed(pushed, moveWaits, by)
    const { known, renamed, values } = pushed
    const preparing = [
      ...(await copyValues(database, renamed, application, by.actor)),
      ...(await prepareValues(database, values, application, by.actor)),
    ]
    return { application, release: numberIn(known.record?.release) + 1, preparing }
  }

  /** Not within the turn of the release: what is unique by a field changes in a turn of its own. */
  async #followed({ left, leftValues, ...live }: Committed, moveWaits: boolean, by: Publisher) {
    const problems = [...live.problems]
    const follow = async (what: string, work: () => Promise<unknown>) =>
      void problems.push(...(await following(this.#parts.flows.log.write, what, work)))
    for (const { record } of left)
      await follow('removing copied values', () => removeCopies(this.#database, record, by.actor))
    for (const { record } of leftValues)
      await follow('ending a preparation', () => endPreparation(this.#database, record, by.actor))
    let movedWaits = 0
    if (moveWaits)
      await follow('moving waits', async () => {
        const record = await this.get(live.application)
        const moved = await movedToRelease(this.#parts, record, live.changes, by.actor)
        problems.push(...moved.problems)
        movedWaits = moved.movedWaits
      })
    return { ...live, problems, movedWaits }
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

  async drawn(blueprint: string): Promise<DrawnBlueprint> {
    const { records } = this.#parts.flows
    return drawnBlueprint(records, blueprint, await this.list(), (name) => this.read(name))
  }

  async test(
    application: Application,
    files: Files,
    signal: AbortSignal,
    answers = false,
  ): Promise<TestedWithCoverage> {
    const { needs } = application.about
    const named = isJsonObject(needs) && isJsonObject(needs.extensions) ? Object.keys(needs.extensions) : []
    const extensions = await this.#parts.flows.extensions.filesOf(typesIn(application), named)
    return testFiles(files, extensions, signal, answers)
  }

  /** CONFLICT where it is no longer as the plan found it. */
  async #planned(deploy: DeployParts, requested: Application, state: string): Promise<Known> {
    const known = await knownApplication(deploy, this.#database.session(), requested)
    if (known.state !== state) throw changedMeanwhile()
    return known
  }

  /** Nothing else is deployed meanwhile, and no unique key changes. */
  #alone<T>(work: (deploy: DeployParts) => Promise<T>): Promise<T> {
    return this.#parts.flows.deployments.together((deploy) =>
      aloneWithUnique(this.#database, () => work(deploy)),
    )
  }
}

/** Of a push whose fields change under it: each has one job that ends. */
const MOST_TRIES = 3

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
