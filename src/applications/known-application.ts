/** What a cluster has of an application before a push of it, what the push would do, and what keeps it from that. */
import { createHash } from 'node:crypto'
import type { Access } from '../access/access.ts'
import type { Flows } from '../flows/flows.ts'
import type { DeployParts } from '../flows/live/deploy-blueprint.ts'
import type { StorageContext } from '../records/storage-records.ts'
import {
  type Application,
  nameOfApplication,
  normalSteps,
  shapeProblem,
} from '../shared/application/application.ts'
import { applicationChanges, pushedMaps, releasedOnly } from '../shared/application/application-changes.ts'
import { runCooperatively } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { matchAll } from '../shared/query.ts'
import type { Database, Session } from '../storage/database.ts'
import { numberIn, textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { isPrepared, type Publisher, type ReleaseParts } from './apply-release.ts'
import type { DescribeTable } from './broken-contract.ts'
import { applicationProblems, type CheckedFiles, switchedOn } from './check-application.ts'
import { documentReader } from './connection-documents.ts'
import { planRelease, type ReleasePlan, type TriedRelease } from './plan-release.ts'
import {
  nothingOwned,
  ownedObjectsIn,
  type PresentApplication,
  presentApplication,
} from './present-application.ts'
import { releaseContent } from './release-records.ts'
import { type PreparedField, type RenamedField, renamedFields } from './renamed-fields.ts'
import { leftSeeds } from './seed-documents.ts'
import { type OtherApplication, otherApplications } from './shared-storages.ts'
import type { CompareRuns, Verification, VerifiedBlueprint } from './verified-push.ts'

/** Of a cluster. */
export const MOST_APPLICATIONS = 1_000

export interface ApplicationParts {
  readonly flows: Flows
  readonly access: Access
  readonly documents: StorageContext
  /** Of this Quoin. */
  readonly version: string
  readonly describe: DescribeTable
  readonly compare: CompareRuns
  /** Of plans and pushes before. */
  readonly checked: CheckedFiles
}

export interface Known {
  /** undefined before its first release. */
  readonly record: JsonObject | undefined
  readonly present: PresentApplication
  readonly state: string
  readonly others: readonly OtherApplication[]
}

export async function knownApplication(
  parts: DeployParts,
  session: Session,
  requested: Application,
): Promise<Known> {
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
  const present = await presentApplication({
    ...{ parts, session, owned, requested, owners },
    former: formerBlueprints(record),
  })
  const served = Object.entries(present.blueprints).map(([object, { isServed }]) => [object, isServed])
  const others = otherApplications(all, requested)
  const shared = others.map(({ name: other, offers, uses }) => [other, offers, uses])
  const seen = [shared, present.hashes, present.adopted, present.clashes, served, record?.release ?? 0]
  return { record, present, others, state: createHash('sha256').update(JSON.stringify(seen)).digest('hex') }
}

function formerBlueprints(record: JsonObject | undefined): Readonly<Record<string, string>> {
  const { former } = record ?? {}
  return Object.fromEntries(
    Object.entries(isJsonObject(former) ? former : {}).map(([object, guid]) => [object, textIn(guid)]),
  )
}

/** CONFLICT for what cannot be released at all. */
export async function tryRelease(
  parts: ApplicationParts,
  deploy: DeployParts,
  { record, present, others }: Known,
  requested: Application,
  by: Publisher,
): Promise<TriedRelease> {
  const { flows, version, describe, checked } = parts
  const live = flows.live.copy()
  live.setAll(new Map([...live.table().blueprints.keys()].map((guid) => [guid, undefined])))
  const read = documentReader()
  const problems = await applicationProblems(requested, {
    ...{ catalogue: flows.catalogue, live, read, checked },
    extensions: switchedOn(flows),
  })
  const wrong = problems.filter(({ warning }) => warning === undefined)
  if (wrong.length > 0)
    throw unusable(
      wrong.map(
        ({ map, object, message, block, pin }) =>
          `${[map, object, block, pin].filter(Boolean).join('.')}: ${message}`,
      ),
    )
  return planRelease(
    {
      ...{ flows, others, version, describe, release: releaseParts(parts, deploy), read },
      leftSeeds: await leftSeeds(flows.records.database, record),
    },
    present,
    requested,
    by,
  )
}

export function releaseParts(parts: ApplicationParts, deploy: DeployParts): ReleaseParts {
  const { flows, access, documents } = parts
  return { deploy, access, documents, random: flows.random, newGuid: flows.newGuid }
}

export async function planOf(
  session: Session,
  requested: Application,
  { record, state }: Known,
  plan: ReleasePlan,
): Promise<ApplicationPlan> {
  const application = nameOfApplication(requested)
  const number = numberIn(record?.release)
  const before = number > 0 && (await releaseContent(session, application, number))
  const steps = before ? [...plan.steps, ...releasedOnly(before, requested)] : plan.steps
  return { application, release: number + 1, state, ...plan, steps }
}

export function renamedIn(
  database: Database,
  known: Known,
  requested: Application,
): Promise<readonly RenamedField[]> {
  const isConverted = (storage: string, name: string) => isPrepared(requested, storage, name)
  return renamedFields(database, known.present, changesIn(known, requested), isConverted)
}

export function changesIn({ present }: Known, requested: Application) {
  return applicationChanges(present.application, requested)
}

// What plans and pushes give.

export interface ApplicationPlan extends ReleasePlan {
  readonly application: string
  /** The number that the release will have. */
  readonly release: number
  /** Of the cluster, as far as the plan depends on it: a push of another state is refused. */
  readonly state: string
}

export interface Released extends ApplicationPlan {
  /** Of what follows a release that is live: first documents. */
  readonly problems: readonly string[]
  /** Runs that waited and continue on this release. */
  readonly movedWaits: number
  /** Of a push that asks for it. */
  readonly verified?: readonly VerifiedBlueprint[]
}

/** The old release serves while documents follow: the same push goes on when they have. */
export interface Preparing {
  readonly application: string
  readonly release: number
  readonly preparing: readonly PreparedField[]
}

// What keeps an application from being read or released, as errors of the API.

export interface PushOptions {
  readonly state: string
  readonly allowLoss: boolean
  /** Runs that wait continue on the new release where its blocks fit. */
  readonly moveWaits?: boolean
  /** Recorded runs are compared first. */
  readonly verify?: Verification
}

/** CONFLICT for what cannot be read as an application. */
export async function readApplication(input: JsonObject): Promise<Application> {
  const shape = shapeProblem(input)
  if (shape !== undefined) throw unusable([shape])
  return runCooperatively(normalSteps(input))
}

export function refuse({ refused, lost }: ReleasePlan, allowLoss: boolean): void {
  if (refused.length > 0) throw unusable(refused)
  if (lost.length === 0 || allowLoss) return
  throw new QuoinError(
    'CONFLICT',
    `The push would lose: ${lost.join(' ')} Allow it with --allow-loss (allow_loss).`,
    {
      details: { lost: [...lost] },
    },
  )
}

function unusable(problems: readonly string[]): QuoinError {
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return new QuoinError('CONFLICT', `The application cannot be released: ${problems[0]}${more}`, {
    details: { problems: problems.slice(0, 1_000) },
  })
}

export function changedMeanwhile(): QuoinError {
  return new QuoinError('CONFLICT', 'The cluster was changed since the plan was made. Plan again.', {
    details: { planned: false },
  })
}

/** INSUFFICIENT_PERMISSIONS: moving a run decides what it does, and a difference says what a run has replied. */
export function checkOptions({ moveWaits, verify }: PushOptions, lacks: (scope: string) => boolean): void {
  if (moveWaits === true && lacks('waits_update'))
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      'The scope waits_update is missing: it is needed to move waits.',
    )
  if (verify && lacks('runs_view'))
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      'The scope runs_view is missing: it is needed to compare recorded runs.',
    )
}

/** CONFLICT as a push of it. */
export function checkPlan(
  plan: ReleasePlan & Pick<PushOptions, 'state'>,
  { state, allowLoss }: PushOptions,
): void {
  if (plan.state !== state) throw changedMeanwhile()
  refuse(plan, allowLoss)
}

/** Of what is pushed, and how. */
export function digestOf(
  requested: Application,
  { state, allowLoss, moveWaits = false }: PushOptions,
): string {
  return createHash('sha256')
    .update(JSON.stringify([requested, state, allowLoss, moveWaits]))
    .digest('hex')
}
