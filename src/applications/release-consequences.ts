/** What a builder should know of a release beside what it changes: what is lost, what clients and users notice, and what is missing. */
import { environmentNames } from '../expressions/language/environment/environment-names.ts'
import { fittingWaits, type KnownVersions } from '../flows/background/move-waits.ts'
import type { CompiledBlueprint } from '../flows/compile/compile-blueprint.ts'
import type { Flows } from '../flows/flows.ts'
import { type LiveTable, type OfferedTool, offeredTools } from '../flows/live/live-blueprints.ts'
import { rulesIn } from '../records/fields/field-rules.ts'
import type { Application } from '../shared/application/application.ts'
import type { ObjectChange } from '../shared/application/application-changes.ts'
import { connectionNamesOf, secretNamesOf } from '../shared/application/names-in-pins.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import { isJsonObject } from '../shared/json.ts'
import { nearestName } from '../shared/names/nearest-name.ts'
import { matchAll, search } from '../shared/query.ts'
import type { Database, Session } from '../storage/database.ts'
import { textsIn } from '../storage/document-fields.ts'
import type { JointWork } from '../storage/joint-database.ts'
import { isOwnStorage, systemStorages } from '../storage/system-storages.ts'
import type { Applied } from './apply-release.ts'
import { contractBreaks, type DescribeTable } from './broken-contract.ts'
import { importNamed } from './check-application.ts'
import { secretsOfCluster } from './cluster-objects.ts'
import type { PresentApplication } from './present-application.ts'

export async function losses(
  database: Database,
  present: PresentApplication,
  changes: readonly ObjectChange[],
): Promise<string[]> {
  const lost: string[] = []
  for (const { map, object, change } of changes) {
    if (change !== 'removed') continue
    if (map === 'storages' && database.has(object)) {
      const documents = await database.session().count(object, matchAll, true)
      if (documents > 0) lost.push(`storages/${object}.json: ${documents} documents.`)
    }
    if (map === 'blueprints') {
      const runs = await waitingRuns(database.session(), present.objects.blueprints[object] ?? '')
      if (runs > 0)
        lost.push(`blueprints/${object}.json: ${runs} runs wait, and none of them continues without it.`)
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

/** Addresses that are gone or admit others, and what else clients of the application would notice. */
export async function breaksOf(
  {
    database,
    now,
    describe,
  }: { readonly database: Database; readonly now: LiveTable; readonly describe: DescribeTable },
  present: PresentApplication,
  applied: Applied,
  rules: ReadonlyMap<string, readonly FieldRule[]>,
): Promise<string[]> {
  const before = (storage: string) => rulesIn(database.session(), storage)
  const after = async (storage: string) => rules.get(storage) ?? before(storage)
  const owned = [present.objects, applied.objects].flatMap(({ blueprints }) => Object.values(blueprints))
  const tables = { now, next: applied.live.table(), owned: new Set(owned) }
  return [
    ...brokenAddresses(now, applied),
    ...toolLines(now, applied).breaking,
    ...(await contractBreaks(describe, tables, { before, after })),
  ]
}

/** What agents notice: a tool of the blueprints that change is gone, or open to others. One that is new is no break. */
function toolLines(now: LiveTable, { served, live }: Applied) {
  const [before, after] = [now, live.table()].map(
    (table) => new Map([...offeredTools(table)].filter(([, { blueprint }]) => served.has(blueprint))),
  )
  const [breaking, added]: [string[], string[]] = [[], []]
  for (const [name, tool] of before ?? []) {
    const next = after?.get(name)
    if (!next) breaking.push(`The tool ${name} is gone.`)
    else if (admitted(next) !== admitted(tool))
      breaking.push(`The tool ${name} admits ${admitted(next)} and no longer ${admitted(tool)}.`)
  }
  for (const [name, tool] of after ?? [])
    if (!before?.has(name)) added.push(`Agents get the tool ${name}, which admits ${admitted(tool)}.`)
  return { breaking, added }
}

function admitted({ scopes }: Pick<OfferedTool, 'scopes'>): string {
  return scopes.toSorted().join(', ') || '*public'
}

/** Clients of streams lose their connection wherever a blueprint is deployed again, and cannot connect where the stream is gone. */
function streamLines(now: LiveTable, { served, live }: Applied): string[] {
  const addresses = (blueprint: CompiledBlueprint | undefined) =>
    (blueprint?.endpoints ?? [])
      .filter(({ subscribes }) => subscribes)
      .map(({ listening }) => `${listening.method} /${listening.uri}`)
  const next = live.table()
  const later = new Set([...next.blueprints.values()].flatMap(({ compiled }) => addresses(compiled)))
  const ended = [...served.keys()].flatMap((guid) => addresses(now.blueprints.get(guid)?.compiled))
  return ended.map((address) =>
    later.has(address)
      ? `Clients of the stream ${address} are disconnected, and connect again.`
      : `Clients of the stream ${address} are disconnected, and it is gone.`,
  )
}

/** So many functions that go away are looked for among the jobs. */
const MOST_FUNCTIONS = 100

/** Jobs whose function no blueprint has any longer: each attempt of them fails. */
async function jobLines(database: Database, now: LiveTable, { served, live }: Applied): Promise<string[]> {
  const { functions } = live.table()
  const names = [...served.keys()].flatMap((guid) => [
    ...(now.blueprints.get(guid)?.compiled.functions.keys() ?? []),
  ])
  const lines: string[] = []
  for (const name of names.filter((one) => !functions.has(one)).slice(0, MOST_FUNCTIONS)) {
    const queries = [
      { kind: 'term', field: 'type', value: 'function' },
      { kind: 'terms', field: 'status', values: ['waiting', 'running'] },
      { kind: 'term', field: 'title', value: name },
    ] as const
    const query = { kind: 'and', queries } as const
    const { total } = await database.capabilities.jobs.search(search({ query, limit: 1 }))
    if (total > 0)
      lines.push(
        `${total} jobs wait for the function ${name}, which is gone: they fail until a blueprint has it.`,
      )
  }
  return lines
}

/** Users of a group have what it has from now on. */
async function grants(
  session: Session,
  { present, requested }: { readonly present: PresentApplication; readonly requested: Application },
  changes: readonly ObjectChange[],
): Promise<string[]> {
  const lines: string[] = []
  for (const { map, object, change } of changes) {
    if (map !== 'groups' || change !== 'changed') continue
    const held = textsIn(present.application.groups[object]?.scopes)
    const next = textsIn(requested.groups[object]?.scopes)
    const granted = next.filter((scope) => !held.includes(scope))
    const taken = held.filter((scope) => !next.includes(scope))
    if (granted.length + taken.length === 0) continue
    const value = present.objects.groups[object] ?? ''
    const users = await session.count(systemStorages.users, { kind: 'term', field: 'groups', value })
    const what = [
      granted.length > 0 && `get ${granted.join(', ')}`,
      taken.length > 0 && `lose ${taken.join(', ')}`,
    ]
    if (users > 0)
      lines.push(`groups.json: ${users} users of the group ${object} ${what.filter(Boolean).join(', and ')}.`)
  }
  return lines
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
    const [was, is] = [admitted({ scopes }), admitted({ scopes: next })]
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

export function missingNeeds(
  { environmentValues, secrets, connections }: Flows,
  requested: Application,
): string[] {
  const needs = isJsonObject(requested.about.needs) ? requested.about.needs : {}
  const blocks = Object.values(requested.blueprints).flatMap((file) => importNamed(file).blocks)
  const kinds = [
    [
      'value env.',
      'env',
      [...textsIn(needs.env), ...environmentNames(blocks)],
      Object.keys(environmentValues.present()),
    ],
    [
      'secret ',
      'secret',
      [...textsIn(needs.secrets), ...secretNamesOf(blocks), ...secretsOfCluster(requested)],
      secrets.names(),
    ],
    [
      'connection ',
      'connection',
      [...textsIn(needs.connections), ...connectionNamesOf(blocks)],
      [...connections.names(), ...Object.keys(requested.connections)],
    ],
  ] as const
  return kinds.flatMap(([noun, command, names, there]) =>
    [...new Set(names)]
      .filter((name) => !there.includes(name))
      .sort()
      .map((name) => `There is no ${noun}${name}. Set it: quoin ${command} set ${name}`),
  )
}

export async function warningsOf(
  { database, flows }: { readonly database: Database; readonly flows: KnownVersions },
  { present, requested }: { readonly present: PresentApplication; readonly requested: Application },
  changes: readonly ObjectChange[],
  { applied, needed }: { readonly applied: Applied | undefined; readonly needed: JointWork['needed'] },
): Promise<{ readonly warnings: readonly string[]; readonly movableWaits: number }> {
  let movableWaits = 0
  const warnings: string[] = [
    ...strayStorages(database, requested, needed),
    ...(await grants(database.session(), { present, requested }, changes)),
  ]
  if (applied) {
    const now = flows.live.table()
    warnings.push(...toolLines(now, applied).added, ...streamLines(now, applied))
    warnings.push(...(await jobLines(database, now, applied)))
  }
  for (const { map, object, change } of changes) {
    if (map !== 'blueprints' || change === 'removed') continue
    const known = present.blueprints[object]
    if (!known) {
      const former = present.former[object]
      const runs = former === undefined ? 0 : await waitingRuns(database.session(), former)
      if (runs > 0)
        warnings.push(
          `blueprints/${object}.json: ${runs} runs wait since a release that had it, and go on with the blocks that they began with.`,
        )
      continue
    }
    if (known.staged > 0)
      warnings.push(
        `blueprints/${object}.json: ${known.staged} blocks have changes in the studio that are not saved, and lose them.`,
      )
    const candidate = applied?.served.get(present.objects.blueprints[object] ?? '')
    if (!candidate) {
      const runs = await waitingRuns(database.session(), present.objects.blueprints[object] ?? '')
      if (runs > 0) warnings.push(`blueprints/${object}.json: ${runs} ${WAIT}`)
      continue
    }
    const { waiting, fitting, failed, mended } = await fittingWaits({ database, flows }, candidate)
    movableWaits += fitting + mended
    if (waiting > 0)
      warnings.push(
        `blueprints/${object}.json: ${waiting} ${WAIT} ${fitting} of them fit the new ones: --move-waits moves them.`,
      )
    if (failed > 0)
      warnings.push(
        `blueprints/${object}.json: ${failed} runs whose wait is over have failed to continue. ${mended} of them fit the new blocks: --move-waits continues them.`,
      )
  }
  return { warnings, movableWaits }
}

/** Storages that its blueprints name and that there are none of: a deploy makes them, and no application has them. */
function strayStorages(database: Database, { storages }: Application, needed: JointWork['needed']): string[] {
  const names = new Set(needed.map(([name]) => name))
  return [...names]
    .filter((name) => !isOwnStorage(name) && !database.has(name) && storages[name] === undefined)
    .map((name) => {
      const meant = nearestName(name, Object.keys(storages))
      const advice = meant === undefined ? '' : ` Did you mean ${meant}?`
      return `A blueprint names the storage ${name}, which is in no file and not in the cluster. The push makes it, and it stays after a rollback: write storages/${name}.json.${advice}`
    })
}

const WAIT = 'runs wait, and go on with the blocks that they began with.'

/** With those whose wait is over, and that have not continued. */
async function waitingRuns(session: Session, blueprint: string): Promise<number> {
  return session.count(systemStorages.waits, { kind: 'term', field: 'blueprint', value: blueprint })
}
