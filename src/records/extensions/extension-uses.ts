/** What of a cluster needs an extension that is to be removed. */
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { matchAll, type Query, search } from '../../shared/query.ts'
import { MOST_GROUPS } from '../../storage/aggregate/aggregate.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import type { Jobs } from '../../storage/job.ts'
import { systemStorages } from '../../storage/system-storages.ts'

interface ToRemove {
  readonly name: string
  readonly versions: readonly {
    readonly hash: string
    readonly version: string
    /** Identifiers. */
    readonly blocks: readonly string[]
  }[]
  /** Names of active blueprints by the hash that they were deployed with. */
  readonly active: ReadonlyMap<string, readonly string[]>
}

/** Of the names of what uses an extension, in a message or a reply. */
const MOST_NAMES = 20
/** Numbers of deployments in one query. */
const AT_ONCE = 500
/** Of one blueprint, as far as they are looked at. */
const MOST_FUNCTIONS = 1_000

/** Throws CONFLICT where something runs with it, or will. Gives the names of blueprints that only have its blocks. */
export async function checkUnused(
  session: Session,
  jobs: Pick<Jobs, 'search'>,
  { name, versions, active }: ToRemove,
): Promise<readonly string[]> {
  for (const { hash, version } of versions) {
    const names = active.get(hash) ?? []
    if (names.length > 0)
      throw new QuoinError(
        'CONFLICT',
        `Active blueprints use the extension ${name} ${version}: ${listed(names)}. Deploy them without its blocks, or deactivate them, first.`,
      )
  }
  const hashes = versions.map(({ hash }) => hash)
  const awaited = await blueprintsAwaited(session, `extensions.${name}.hash`, hashes)
  if (awaited.length > 0)
    throw new QuoinError(
      'CONFLICT',
      `Runs that wait go on with the extension ${name}, of these blueprints: ${listed(awaited)}. End them, or move them to a version without its blocks, first.`,
    )
  const types = new Set(versions.flatMap(({ blocks }) => blocks))
  const named = await blueprintsWith(session, [...types])
  const called = await calledLater(jobs, session, named)
  if (called.length > 0)
    throw new QuoinError(
      'CONFLICT',
      `Jobs wait for functions of blueprints with blocks of the extension ${name}: ${listed(called)}. Cancel them, or let them end, first.`,
    )
  return named.map(nameIn)
}

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`
}

const nameIn = ({ name }: JsonObject): string => textIn(name)

/** Names of blueprints with runs that wait on a deployment whose `field` is one of these values. */
async function blueprintsAwaited(
  session: Session,
  field: string,
  values: readonly string[],
): Promise<readonly string[]> {
  const deployments = new Map<string, number[]>()
  for (const { blueprint, deployment } of await groupsOf(session, systemStorages.waits, matchAll, [
    'blueprint',
    'deployment',
  ])) {
    const guid = textIn(blueprint)
    deployments.set(guid, [...(deployments.get(guid) ?? []), numberIn(deployment)])
  }
  const names: string[] = []
  for (const [guid, numbers] of deployments) {
    // The runs of a blueprint that is gone cannot go on.
    const blueprint = await session.get(systemStorages.blueprints, guid)
    if (!blueprint) continue
    if (await wereDeployedWith(session, guid, numbers, { kind: 'terms', field, values }))
      names.push(nameIn(documentOf(blueprint)))
  }
  return names
}

async function wereDeployedWith(
  session: Session,
  blueprint: string,
  numbers: readonly number[],
  having: Query,
): Promise<boolean> {
  const ofBlueprint = { kind: 'term', field: 'blueprint_guid', value: blueprint } as const
  for (let at = 0; at < numbers.length; at += AT_ONCE) {
    const numbered = { kind: 'terms', field: 'number', values: numbers.slice(at, at + AT_ONCE) } as const
    const query: Query = { kind: 'and', queries: [ofBlueprint, numbered, having] }
    if ((await session.count(systemStorages.deployments, query)) > 0) return true
  }
  return false
}

/** Blueprints whose saved blocks have one of these types. */
async function blueprintsWith(session: Session, types: readonly string[]): Promise<readonly JsonObject[]> {
  const query: Query = { kind: 'terms', field: 'type', values: types }
  const blueprints: JsonObject[] = []
  for (const { blueprint_guid: guid } of await groupsOf(session, systemStorages.blocks, query, [
    'blueprint_guid',
  ])) {
    const blueprint = await session.get(systemStorages.blueprints, textIn(guid))
    if (blueprint) blueprints.push(documentOf(blueprint))
  }
  return blueprints
}

/** Functions of blueprints that are not active, and for which a job waits or runs: `send of Orders`. */
async function calledLater(
  jobs: Pick<Jobs, 'search'>,
  session: Session,
  blueprints: readonly JsonObject[],
): Promise<readonly string[]> {
  const called: string[] = []
  for (const blueprint of blueprints) {
    if (blueprint.active === true) continue
    const query = allWith({ blueprint_guid: guidOf(blueprint), type: 'trigger_custom_function' })
    for (const { fields } of await findAll(session, systemStorages.blocks, query, MOST_FUNCTIONS)) {
      const title = isJsonObject(fields) ? textIn(fields.name) : ''
      const live: Query = { kind: 'terms', field: 'status', values: ['waiting', 'running'] }
      const calls: Query = { kind: 'and', queries: [allWith({ type: 'function', title }), live] }
      const { records } = await jobs.search(search({ query: calls, limit: 1 }))
      if (records.length > 0) called.push(`${title} of ${nameIn(blueprint)}`)
    }
  }
  return called
}

function allWith(values: Readonly<Record<string, string>>): Query {
  const queries = Object.entries(values).map(([field, value]) => ({ kind: 'term', field, value }) as const)
  return { kind: 'and', queries }
}

async function groupsOf(
  session: Session,
  from: string,
  query: Query,
  fields: readonly string[],
): Promise<JsonObject[]> {
  const groups = fields.map((field) => ({ field, as: field }))
  const values = [{ figure: 'count', as: 'count' }] as const
  const { rows, total } = await session.aggregate(from, {
    query,
    groups,
    values,
    order: [],
    limit: MOST_GROUPS,
  })
  if (total === undefined)
    throw new QuoinError(
      'CONFLICT',
      `More than ${MOST_GROUPS} deployments or blueprints would have to be looked at.`,
    )
  return objectsIn(rows.value)
}
