/** What a push would do: found by doing it in a transaction that is rolled back, and by looking at the documents that are stored. */
import { holds } from '../access/scopes.ts'
import type { CompiledBlueprint } from '../flows/compile/compile-blueprint.ts'
import type { Flows } from '../flows/flows.ts'
import { ruleOf, rulesIn } from '../records/fields/field-rules.ts'
import { continueNumbers } from '../records/fields/numbered-fields.ts'
import { keepReference } from '../records/fields/reference-fields.ts'
import { askedBy, storedFit } from '../records/fields/stored-misfits.ts'
import { keepUnique } from '../records/fields/unique-fields.ts'
import { ensureOperations } from '../records/operations/stored-operations.ts'
import type { Application } from '../shared/application/application.ts'
import {
  applicationChanges,
  type ChangedValues,
  changedValues,
  changeText,
  type ObjectChange,
} from '../shared/application/application-changes.ts'
import { pauses } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import type { Database } from '../storage/database.ts'
import { type JointWork, jointly } from '../storage/joint-database.ts'
import {
  type Applied,
  allFieldsOf,
  applyRelease,
  isPrepared,
  leftFields,
  type Publisher,
  type ReleaseParts,
} from './apply-release.ts'
import type { DescribeTable } from './broken-contract.ts'
import type { ReadDocument } from './connection-documents.ts'
import {
  leftPreparations,
  misfitText,
  type PreparationPlan,
  type PreparedValues,
  planPreparations,
  preparedValues,
} from './prepared-fields.ts'
import type { PresentApplication } from './present-application.ts'
import { breaksOf, losses, missingNeeds, warningsOf } from './release-consequences.ts'
import { leftCopies, renamedFields, renameProblems, renameSteps } from './renamed-fields.ts'
import { dueSeeds } from './seed-documents.ts'
import { type OtherApplication, sharingProblems, usedStorages, versionProblem } from './shared-storages.ts'

export interface ReleasePlan {
  readonly changes: readonly ObjectChange[]
  /** The same for people, and what else is done: a line each, in the order in which it happens. */
  readonly steps: readonly string[]
  /** What the changed objects have other than before. */
  readonly values: readonly ChangedValues[]
  /** Why it cannot be pushed. */
  readonly refused: readonly string[]
  /** What is gone afterwards. */
  readonly lost: readonly string[]
  /** Endpoints and pages that clients know and that are gone or ask for other scopes. */
  readonly breaking: readonly string[]
  /** Values of the environment, secrets and connections that are not there. */
  readonly missing: readonly string[]
  readonly warnings: readonly string[]
  /** Runs that wait and fit the new blocks. */
  readonly movableWaits: number
}

/** For the push that follows. */
export interface TriedRelease {
  readonly plan: ReleasePlan
  /** What has to be there before. */
  readonly needed: JointWork['needed']
  /** Of the storages that change, as they will be. */
  readonly rules: ReadonlyMap<string, readonly FieldRule[]>
  /** Has read the documents of connections. */
  readonly read: ReadDocument
  /** Whose documents are to get values first. */
  readonly due: readonly PreparedValues[]
  /** Storages that get first documents, and those of them that the release before has to fill yet. */
  readonly seeds: readonly string[]
  readonly leftSeeds: readonly string[]
  /** Its blueprints that are to be served instead, by guid. */
  readonly compiled: ReadonlyMap<string, CompiledBlueprint>
}

export interface PlanParts {
  readonly flows: Flows
  readonly release: ReleaseParts
  readonly others: readonly OtherApplication[]
  /** Of this Quoin. */
  readonly version: string
  /** OpenAPI descriptions of endpoints. */
  readonly describe: DescribeTable
  readonly read: ReadDocument
  /** Storages that the release before has to fill yet. */
  readonly leftSeeds: readonly string[]
}

export async function planRelease(
  parts: PlanParts,
  present: PresentApplication,
  requested: Application,
  by: Publisher,
): Promise<TriedRelease> {
  const changes = applicationChanges(present.application, requested)
  const { database, clock } = parts.release.deploy.context
  const { leftSeeds } = parts
  const seeded = await dueSeeds(database, requested, leftSeeds, clock())
  const more = [
    ...besideChanges(present, requested, changes),
    ...seeded.map(({ step }) => ['storages_create', step] as const),
  ]
  const lacking = lackedScopes(changes, { present, requested, more }, by)
  const ahead = await documentsAhead(database, present, requested, changes)
  const refused = [
    ...versionProblem(requested, parts.version),
    ...present.clashes,
    ...lacking,
    ...ahead.refused,
  ]
  const { applied, rules, needed, refusal } =
    refused.length === 0 ? await trialOf(parts, { present, requested, by, changes }) : notTried
  if (refusal !== undefined) refused.push(refusal)
  refused.push(...sharingProblems(requested, parts.others, usedStorages(requested, applied)))
  refused.push(...(await misfits(parts, present, rules, ahead.due)))
  const { flows, describe } = parts
  const plan: ReleasePlan = {
    changes,
    refused,
    steps: [
      ...ahead.steps,
      ...changes.map(changeText),
      ...present.adopted.map((file) => `adopted ${file}`),
      ...more.map(([, step]) => step),
    ],
    values: changedValues(present.application, requested, changes),
    lost: [...(await losses(database, present, changes)), ...ahead.lost],
    breaking: applied
      ? await breaksOf({ database, now: flows.live.table(), describe }, present, applied, rules)
      : [],
    missing: missingNeeds(flows, requested),
    ...(await warningsOf({ database, flows }, { present, requested }, changes, { applied, needed })),
  }
  const seeds = seeded.map(({ storage }) => storage)
  const tried = { needed, rules, read: parts.read, due: ahead.due, seeds, leftSeeds }
  return { plan, ...tried, compiled: compiledIn(applied) }
}

interface Trial extends Pick<TriedRelease, 'needed' | 'rules'> {
  readonly applied: Applied | undefined
  readonly refusal?: string
}

const notTried: Trial = { applied: undefined, rules: new Map(), needed: [] }

/** Does all of it, and rolls it back. */
async function trialOf(
  { release, read }: PlanParts,
  of: Pick<Parameters<typeof applyRelease>[0], 'present' | 'requested' | 'by' | 'changes'>,
): Promise<Trial> {
  const { database } = release.deploy.context
  await ensureDocuments(database, of.requested)
  const rules = new Map<string, readonly FieldRule[]>()
  try {
    return await jointly(database, { origin: { user: of.by.actor }, trial: true }, async (joint) => {
      const applied = await applyRelease({ parts: release, joint, ...of, read })
      for (const { object } of of.changes.filter(({ map }) => map === 'storages'))
        rules.set(object, await rulesIn(joint.database.session(), object))
      return { applied, rules, needed: joint.needed }
    })
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { ...notTried, refusal: error.message }
  }
}

function compiledIn(applied: Applied | undefined): TriedRelease['compiled'] {
  const compiled = new Map<string, CompiledBlueprint>()
  for (const [guid, next] of applied?.served ?? []) if (next) compiled.set(guid, next.compiled)
  return compiled
}

/** A trial reads what is stored of an OpenAPI document. */
async function ensureDocuments(database: Database, { connections }: Application): Promise<void> {
  if (Object.values(connections).some(({ document }) => document !== undefined))
    await ensureOperations(database)
}

/** What documents get before the release, by renames and conversions. */
async function documentsAhead(
  database: Database,
  present: PresentApplication,
  requested: Application,
  changes: readonly ObjectChange[],
): Promise<PreparationPlan> {
  const isConverted = (storage: string, name: string) => isPrepared(requested, storage, name)
  const renamed = await renamedFields(database, present, changes, isConverted)
  const values = await preparedValues(database, present, requested, changes)
  const plan = await planPreparations(database, values, leftPreparations(present, requested, values))
  const problems = await renameProblems(database, present, { requested, changes }, renamed)
  return {
    ...plan,
    steps: [...renameSteps(renamed, leftCopies(present, requested, renamed)), ...plan.steps],
    refused: [...problems, ...plan.refused],
  }
}

/** What is done beside the changes, and the scope of each. */
function besideChanges(...of: Parameters<typeof leftovers>): (readonly [scope: string, step: string])[] {
  return [
    ...leftovers(...of).map((step) => ['blueprintfields_remove', step] as const),
    ...deployedAsIs(...of).map((step) => ['blueprints_update', step] as const),
  ]
}

/** Fields of storages that were deleted and come back without them. */
function leftovers(
  present: PresentApplication,
  requested: Application,
  changes: readonly ObjectChange[],
): string[] {
  return changes
    .filter(({ map, change }) => map === 'storages' && change === 'created')
    .flatMap(({ object }) => leftFields({ present, requested }, object))
    .map(({ storage, name }) => `removed the field ${name} that a former storage ${storage} has left`)
}

/** Blueprints that do not change and are not served. */
function deployedAsIs(
  present: PresentApplication,
  requested: Application,
  changes: readonly ObjectChange[],
): string[] {
  const changed = new Set(changes.filter(({ map }) => map === 'blueprints').map(({ object }) => object))
  return Object.entries(present.blueprints).flatMap(([object, { isServed }]) =>
    requested.blueprints[object] !== undefined && !changed.has(object) && !isServed
      ? [`deployed blueprints/${object}.json as it is`]
      : [],
  )
}

const resources = {
  connections: 'connections',
  alerts: 'alerts',
  groups: 'authentication_groups',
  storages: 'storages',
  templates: 'blueprinttemplates',
  // They are shown on the same pages.
  texts: 'blueprinttemplates',
  blueprints: 'blueprints',
} as const
const verbs = {
  created: 'create',
  changed: 'update',
  removed: 'remove',
  renamed: 'update',
  moved: 'update',
} as const

function scopeOf({ map, change }: ObjectChange): string {
  // A shared view may be changed by those who change its storage.
  if (map === 'views') return 'storages_update'
  return map === 'queues' ? 'queue_update' : `${resources[map]}_${verbs[change]}`
}

/** The scopes that the same changes need one by one. */
function lackedScopes(
  changes: readonly ObjectChange[],
  {
    present,
    requested,
    more,
  }: {
    readonly present: PresentApplication
    readonly requested: Application
    /** What is done beside the changes, and the scope of each. */
    readonly more: readonly (readonly [scope: string, why: string])[]
  },
  { identity }: Publisher,
): string[] {
  const needed = new Map<string, string>()
  const need = (scope: string, why: string) => needed.has(scope) || needed.set(scope, why)
  for (const change of changes) {
    const why = changeText({ ...change, parts: [] })
    need(scopeOf(change), why)
    if (change.map === 'connections' && change.change === 'created')
      if (requested.connections[change.object]?.document !== undefined) need('connections_update', why)
    if (change.map === 'blueprints') {
      need('blueprints_update', why)
      if (change.change !== 'removed') need('blueprintactions_update', why)
      if (change.change === 'created') need('blueprintactions_create', why)
    }
    if (change.map !== 'storages') continue
    const [before, after] = [present.application.storages[change.object], requested.storages[change.object]]
    if (JSON.stringify(rulesOf(before)) !== JSON.stringify(rulesOf(after))) need('storages_rules', why)
    for (const part of change.parts)
      if (part.kind === 'field') need(`blueprintfields_${verbs[part.change]}`, why)
    if (change.change === 'created' && after?.fields !== undefined) {
      need('blueprintfields_create', why)
      if (allFieldsOf(present, change.object).length > 0) need('blueprintfields_update', why)
    }
    if (change.change === 'removed' && before?.fields !== undefined) need('blueprintfields_remove', why)
  }
  for (const [scope, why] of more) need(scope, why)
  return [...needed]
    .filter(([scope]) => !holds(identity.scopes, scope))
    .map(([scope, why]) => `You lack the scope ${scope}, which this needs: ${why}.`)
}

/** Who may do what, of a storage and its fields. */
function rulesOf(storage: JsonObject | undefined): unknown {
  const fields = isJsonObject(storage?.fields) ? Object.entries(storage.fields) : []
  const ofFields = fields.flatMap(([name, field]) =>
    isJsonObject(field) && (field.visible_to ?? field.settable_by) !== undefined
      ? [[name, field.visible_to ?? null, field.settable_by ?? null]]
      : [],
  )
  return [storage?.rules ?? null, ofFields]
}

/** Stored documents that the fields would refuse. */
async function misfits(
  { release }: PlanParts,
  present: PresentApplication,
  rules: ReadonlyMap<string, readonly FieldRule[]>,
  /** Documents get these values first. */
  due: readonly PreparedValues[],
): Promise<string[]> {
  const { database } = release.deploy.context
  const found: string[] = []
  for (const [storage, after] of rules)
    for (const rule of after.filter((one) => one.storage === storage)) {
      const known = present.fields[storage]?.[rule.name]
      if (due.some((one) => one.storage === storage && one.name === rule.name)) continue
      const asked = askedBy(database, { before: known && ruleOf(known), after: rule })
      if (!asked) continue
      const { total, misfits: first } = await storedFit(database, asked)
      if (total > 0) found.push(misfitText(`storages/${storage}.json`, rule.name, { total, first }))
    }
  return found
}

/** What is no part of the transaction. Throws CONFLICT for documents that do not fit. */
export async function prepareStorages(
  database: Database,
  { fields, objects }: PresentApplication,
  { needed, rules }: TriedRelease,
): Promise<void> {
  // The embedded engine answers within the turn: 190 storages took 0.2 s in one.
  const pause = pauses()
  for (const [storage, needs] of needed) {
    await pause()
    await database.ensure(storage, { ...needs, settlesUnique: true })
  }
  for (const [storage, after] of rules) {
    await pause()
    if (!database.has(storage)) continue
    for (const rule of after.filter((one) => one.storage === storage)) {
      const known = objects.storages[storage] === undefined ? undefined : fields[storage]?.[rule.name]
      const change = { before: known && ruleOf(known), after: rule }
      await keepReference(database, change)
      await continueNumbers(database, change)
    }
    await keepUnique(database, storage, after)
  }
}
