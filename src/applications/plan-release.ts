/** What a push would do: found by doing it in a transaction that is rolled back, and by looking at the documents that are stored. */
import { holds } from '../access/scopes.ts'
import { environmentNames } from '../expressions/language/environment/environment-names.ts'
import type { CompiledBlueprint } from '../flows/compile/compile-blueprint.ts'
import type { Flows } from '../flows/flows.ts'
import type { LiveTable } from '../flows/live/live-blueprints.ts'
import { ruleOf, rulesIn } from '../records/fields/field-rules.ts'
import { askedBy, storedFit } from '../records/fields/stored-misfits.ts'
import type { Application } from '../shared/application/application.ts'
import {
  applicationChanges,
  changeText,
  type ObjectChange,
} from '../shared/application/application-changes.ts'
import { connectionNamesOf, secretNamesOf } from '../shared/application/names-in-pins.ts'
import { QuoinError } from '../shared/errors.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { matchAll } from '../shared/query.ts'
import { textsIn } from '../storage/document-fields.ts'
import { type JointWork, jointly } from '../storage/joint-database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { type Applied, applyRelease, type Publisher, type ReleaseParts } from './apply-release.ts'
import { importNamed } from './check-application.ts'
import type { PresentApplication } from './present-application.ts'
import { leftCopies, renamedFields, renameProblems, renameSteps } from './renamed-fields.ts'
import { seedSteps } from './seed-documents.ts'
import { type OtherApplication, sharingProblems, usedStorages, versionProblem } from './shared-storages.ts'

export interface ReleasePlan {
  readonly changes: readonly ObjectChange[]
  /** The same for people, and what else is done: a line each, in the order in which it happens. */
  readonly steps: readonly string[]
  /** Why it cannot be pushed. */
  readonly refused: readonly string[]
  /** What is gone afterwards. */
  readonly lost: readonly string[]
  /** Endpoints and pages that clients know and that are gone or ask for other scopes. */
  readonly breaking: readonly string[]
  /** Values of the environment, secrets and connections that are not there. */
  readonly missing: readonly string[]
  readonly warnings: readonly string[]
}

/** For the push that follows. */
export interface TriedRelease {
  readonly plan: ReleasePlan
  /** What has to be there before. */
  readonly needed: JointWork['needed']
  /** Of the storages that change, as they will be. */
  readonly rules: ReadonlyMap<string, readonly FieldRule[]>
}

export interface PlanParts {
  readonly flows: Flows
  readonly release: ReleaseParts
  readonly others: readonly OtherApplication[]
  /** Of this Quoin. */
  readonly version: string
}

export async function planRelease(
  parts: PlanParts,
  present: PresentApplication,
  requested: Application,
  by: Publisher,
): Promise<TriedRelease> {
  const changes = applicationChanges(present.application, requested)
  const { database, clock } = parts.release.deploy.context
  const seeded = await seedSteps(database, requested, clock())
  const more = [
    ...seeded.map((step) => ['storages_create', step] as const),
    ...deployedAsIs(present, requested, changes).map((step) => ['blueprints_update', step] as const),
  ]
  const lacking = lackedScopes(changes, { present, wanted: requested, more }, by)
  const renamed = await renamedFields(database, present, changes)
  const following = await renameProblems(database, present, { wanted: requested, changes }, renamed)
  const refused = [...versionProblem(requested, parts.version), ...present.clashes, ...lacking, ...following]
  const rules = new Map<string, readonly FieldRule[]>()
  let needed: JointWork['needed'] = []
  let applied: Applied | undefined
  try {
    if (refused.length === 0)
      applied = await jointly(database, { origin: { user: by.actor }, trial: true }, async (joint) => {
        const done = await applyRelease({
          parts: parts.release,
          joint,
          present,
          wanted: requested,
          by,
          changes,
        })
        for (const { object } of changes.filter(({ map }) => map === 'storages'))
          rules.set(object, await rulesIn(joint.database.session(), object))
        needed = joint.needed
        return done
      })
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    refused.push(error.message)
  }
  refused.push(...sharingProblems(requested, parts.others, usedStorages(requested, applied)))
  refused.push(...(await misfits(parts, present, rules)))
  const plan: ReleasePlan = {
    changes,
    refused,
    steps: [
      ...renameSteps(renamed, leftCopies(present, requested, renamed)),
      ...changes.map(changeText),
      ...present.adopted.map((file) => `adopted ${file}`),
      ...deployedAsIs(present, requested, changes),
      ...seeded,
    ],
    lost: await losses(parts, present, changes),
    breaking: applied ? brokenAddresses(parts.flows.live.table(), applied) : [],
    missing: missingNeeds(parts.flows, requested),
    warnings: await warningsOf(parts, present, changes),
  }
  return { plan, needed, rules }
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
  groups: 'authentication_groups',
  storages: 'storages',
  templates: 'blueprinttemplates',
  blueprints: 'blueprints',
} as const
const verbs = { created: 'create', changed: 'update', removed: 'remove', renamed: 'update' } as const

/** The scopes that the same changes need one by one. */
function lackedScopes(
  changes: readonly ObjectChange[],
  {
    present,
    wanted: requested,
    more,
  }: {
    readonly present: PresentApplication
    readonly wanted: Application
    /** What is done beside the changes, and the scope of each. */
    readonly more: readonly (readonly [scope: string, why: string])[]
  },
  { identity }: Publisher,
): string[] {
  const needed = new Map<string, string>()
  const need = (scope: string, why: string) => needed.has(scope) || needed.set(scope, why)
  for (const change of changes) {
    const why = changeText({ ...change, parts: [] })
    need(`${resources[change.map]}_${verbs[change.change]}`, why)
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
    if (change.change === 'created' && after?.fields !== undefined) need('blueprintfields_create', why)
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
): Promise<string[]> {
  const { database } = release.deploy.context
  const found: string[] = []
  for (const [storage, after] of rules)
    for (const rule of after.filter((one) => one.storage === storage)) {
      const known = present.fields[storage]?.[rule.name]
      const asked = askedBy(database, { before: known && ruleOf(known), after: rule })
      if (!asked) continue
      const { total, misfits: first } = await storedFit(database, asked)
      if (total === 0) continue
      found.push(
        `storages/${storage}.json: ${total} stored documents do not fit: ${rule.name} ${first[0]?.problem}.`,
      )
    }
  return found
}

async function losses(
  { release }: PlanParts,
  present: PresentApplication,
  changes: readonly ObjectChange[],
): Promise<string[]> {
  const { database } = release.deploy.context
  const lost: string[] = []
  for (const { map, object, change } of changes) {
    if (change !== 'removed') continue
    if (map === 'storages' && database.has(object)) {
      const documents = await database.session().count(object, matchAll, true)
      if (documents > 0) lost.push(`storages/${object}.json: ${documents} documents.`)
    }
    if (map !== 'groups') continue
    const guid = present.objects.groups[object] ?? ''
    const users = await database
      .session()
      .count(systemStorages.users, { kind: 'term', field: 'groups', value: guid })
    if (users > 0) lost.push(`groups.json: ${users} users are in the group ${object}, and lose its scopes.`)
  }
  return lost
}

function brokenAddresses(now: LiveTable, { served, live }: Applied): string[] {
  const then = new Map<string, readonly string[]>()
  for (const blueprint of live.table().blueprints.values()) addAddresses(then, blueprint.compiled)
  const before = new Map<string, readonly string[]>()
  for (const guid of served.keys()) {
    const known = now.blueprints.get(guid)
    if (known) addAddresses(before, known.compiled)
  }
  return [...before].flatMap(([address, scopes]) => {
    const next = then.get(address)
    if (next === undefined) return [`${address} is gone.`]
    const [was, is] = [scopes, next].map((one) => one.toSorted().join(', ') || '*public')
    return was === is ? [] : [`${address} admits ${is} and no longer ${was}.`]
  })
}

function addAddresses(
  found: Map<string, readonly string[]>,
  { endpoints, pages }: Pick<CompiledBlueprint, 'endpoints' | 'pages'>,
): void {
  for (const { listening, scopes } of endpoints) found.set(`${listening.method} /${listening.uri}`, scopes)
  for (const { listening, scopes } of pages) found.set(`The page /${listening.uri}`, scopes)
}

function missingNeeds({ environmentValues, secrets, connections }: Flows, requested: Application): string[] {
  const needs = isJsonObject(requested.about.needs) ? requested.about.needs : {}
  const blocks = Object.values(requested.blueprints).flatMap((file) => importNamed(file).blocks)
  const kinds = [
    [
      'value env.',
      'env',
      [...textsIn(needs.env), ...environmentNames(blocks)],
      Object.keys(environmentValues.present()),
    ],
    ['secret ', 'secret', [...textsIn(needs.secrets), ...secretNamesOf(blocks)], secrets.names()],
    [
      'connection ',
      'connection',
      [...textsIn(needs.connections), ...connectionNamesOf(blocks)],
      connections.names(),
    ],
  ] as const
  return kinds.flatMap(([noun, command, names, there]) =>
    [...new Set(names)]
      .filter((name) => !there.includes(name))
      .sort()
      .map((name) => `There is no ${noun}${name}. Set it: quoin ${command} set ${name}`),
  )
}

async function warningsOf(
  { release }: PlanParts,
  present: PresentApplication,
  changes: readonly ObjectChange[],
): Promise<string[]> {
  const session = release.deploy.context.database.session()
  const warnings: string[] = []
  for (const { map, object } of changes) {
    const known = map === 'blueprints' ? present.blueprints[object] : undefined
    if (!known) continue
    if (known.staged > 0)
      warnings.push(
        `blueprints/${object}.json: ${known.staged} blocks have changes in the studio that are not saved, and lose them.`,
      )
    const guid = present.objects.blueprints[object] ?? ''
    const waiting = await session.count(systemStorages.waits, {
      kind: 'and',
      queries: [
        { kind: 'term', field: 'blueprint', value: guid },
        { kind: 'term', field: 'state', value: 'waiting' },
      ],
    })
    if (waiting > 0)
      warnings.push(
        `blueprints/${object}.json: ${waiting} runs wait, and go on with the blocks that they began with.`,
      )
  }
  return warnings
}
