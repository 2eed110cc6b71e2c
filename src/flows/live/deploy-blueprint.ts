/** One deploy, in the order of `deployments.ts`: check, make room, write, serve. */
import type { BlockDefinition } from '../../blocks/block.ts'
import type { ExtensionCatalogue, ExtensionVersions } from '../../records/extensions/extensions.ts'
import { expiryNeeds } from '../../records/purge-expired.ts'
import { type Actor, getRecord, notFound, type RecordContext, savedBlocks } from '../../records/records.ts'
import { removedNeeds } from '../../records/retention/delete-removed.ts'
import type { SystemLog } from '../../records/system-log.ts'
import type { Block } from '../../shared/blueprint.ts'
import { pauses } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type JsonObject, sameJson } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'
import type { Index, Needs } from '../../storage/document-index.ts'
import { findAll } from '../../storage/find-documents.ts'
import { isOwnStorage, systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import {
  type CompiledBlueprint,
  compileToRun,
  type PresentFacts,
  refusedBlueprint,
} from '../compile/compile-blueprint.ts'
import { type DeployNote, ofDeployed } from '../compile/notes/deploy-note.ts'
import { areSame, plain } from './block-differences.ts'
import { refuseAccountPages, refuseLackedScopes, validateOrRefuse } from './check-candidate.ts'
import type { Deployed } from './follow-deployments.ts'
import type { LiveBlueprint, LiveBlueprints } from './live-blueprints.ts'
import { loggingPreparations } from './note-preparations.ts'
import type { Candidate } from './validation-kinds.ts'
import { getVersion } from './versions.ts'

/** Who deploys. */
export interface Deployer extends Actor {
  /** Whether the blueprint may have the page login, logout or password: see `account-paths.ts`. */
  readonly mayTakeAccountPages: boolean
  /** Whether the user does not hold a scope. */
  readonly lacks: (scope: string) => boolean
}

/** What deploying works with. */
export interface DeployParts {
  readonly context: RecordContext
  readonly catalogue: ReadonlyMap<string, BlockDefinition>
  readonly extensions: ExtensionCatalogue
  readonly live: LiveBlueprints
  readonly log: SystemLog['write']
  /** What there is now beside blueprints, for warnings. */
  readonly present: () => MaybePromise<PresentFacts>
  /** What is deployed of a blueprint. */
  readonly deployed: (session: Session, record: JsonObject) => Promise<Deployed>
  /** Puts them, or nothing, in the place of what is served: all at once. */
  readonly serve: (changes: ReadonlyMap<string, LiveBlueprint | undefined>) => Promise<void>
}

export interface DeployAsked {
  readonly guid: string
  readonly by: Deployer
  readonly activate: boolean
  /** Of a former deployment; the saved blocks if not given. */
  readonly version?: number
}

export async function deployBlueprint(parts: DeployParts, asked: DeployAsked): Promise<JsonObject> {
  const { context, live, log } = parts
  const { guid, by: deployer, activate } = asked
  const { mayTakeAccountPages, lacks, ...by } = deployer
  const { database } = context
  const session = database.session()
  const record = await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
  const candidate = await candidateOf(parts, session, record, asked)
  const { compiled, extensions } = candidate
  const notes = await validateOrRefuse(parts, session, candidate)
  tell(log, guid, notes)
  const active = activate || record.active === true
  if (active) live.checkClaims(compiled)
  if (active && !mayTakeAccountPages) refuseAccountPages(compiled)
  if (active) refuseLackedScopes(candidate.blocks, parts.catalogue, lacks)
  if (active) await refuseLackedGroups(session, candidate.blocks, parts.catalogue, lacks)
  await loggingPreparations({ indexes: database.capabilities.indexes, log, blueprint: guid }, () =>
    ensureStorages(context, compiled.needs, by),
  )
  const before = servedBlocks(live, record) ?? (await parts.deployed(session, record))
  const written = await write(context, { guid, by, active, blocks: candidate.blocks, before, extensions })
  const former = servedStorages(live, guid)
  const next = { compiled, name: textIn(written.name), deployment: Number(written.version), extensions }
  if (active) await parts.serve(new Map([[guid, next]]))
  if (active) await dropUnusedIndexes(database, live, [...former, ...compiled.needs.keys()], log)
  return { ...written, ...warningsIn(notes) }
}

export async function deactivateBlueprint(
  { context: { database }, live, log, serve }: DeployParts,
  guid: string,
  by: Actor,
): Promise<JsonObject> {
  const record = await transact(
    database,
    (session) => changed(session, guid, { active: false, modified_by: { ...by } }),
    { user: by },
  )
  const former = servedStorages(live, guid)
  await serve(new Map([[guid, undefined]]))
  await dropUnusedIndexes(database, live, former, log)
  return record
}

async function candidateOf(
  { context, extensions: all, live, present }: DeployParts,
  session: Session,
  record: JsonObject,
  { guid, version }: DeployAsked,
): Promise<Candidate & Pick<Deployed, 'extensions'> & { readonly compiled: CompiledBlueprint }> {
  const former = version === undefined ? undefined : await getVersion(context, guid, version)
  const blocks = former?.blocks ?? (await savedBlocks(context, session, guid))
  const missing = all.missing(blocks)
  if (missing.length > 0) throw refusedBlueprint('cannot run', missing, blocks)
  const extensions = former?.extensions ?? all.versionsOf(blocks.map(({ type }) => type))
  const catalogue = await all.withVersions(extensions)
  const served = live.table().blueprints.get(guid)?.compiled
  const found = await compileToRun(guid, blocks, catalogue, await present(), served)
  const compiled = version === undefined ? found : { ...found, notes: ofDeployed(found.notes) }
  return { name: textIn(record.name), blocks: found.blocks, compiled, extensions }
}

interface Writing {
  readonly guid: string
  readonly by: Actor
  readonly active: boolean
  readonly blocks: readonly Block[]
  readonly before: Deployed
  readonly extensions: ExtensionVersions
}

/** The deployment, unless the one before has the same blocks, and the blueprint's record, in one transaction. */
async function write(
  { database }: RecordContext,
  { guid, by, active, blocks, before, extensions }: Writing,
): Promise<JsonObject> {
  const pause = pauses()
  const unchanged =
    before.number > 0 &&
    !before.isUnreadable &&
    sameJson(before.extensions, extensions) &&
    (await areSame(before.blocks, blocks, pause))
  const versions = Object.keys(extensions).length > 0 && { extensions: { ...extensions } }
  const stored = unchanged ? [] : await plain(blocks, pause)
  // The write is a turn by itself.
  await pause()
  return transact(
    database,
    async (session) => {
      const changes: Record<string, JsonObject[string]> = { active, modified_by: { ...by } }
      if (!unchanged) {
        const number = before.number + 1
        const fields = { blueprint_guid: guid, number, blocks: stored, ...versions, by: { ...by } }
        const deployment = documentOf(await session.create(systemStorages.deployments, setFields(fields)))
        Object.assign(changes, { deployment_guid: guidOf(deployment), version: number })
      }
      return changed(session, guid, changes)
    },
    { user: by },
  )
}

async function changed(session: Session, guid: string, changes: JsonObject): Promise<JsonObject> {
  const update = await session.update(systemStorages.blueprints, guid, setFields(changes))
  if (update.outcome !== 'written') throw notFound(guid, 'blueprint')
  return documentOf(update.document)
}

/** What this node serves, if that is what is deployed: a deployment never changes, so it need not be read again. */
function servedBlocks(live: LiveBlueprints, record: JsonObject): Deployed | undefined {
  const served = live.table().blueprints.get(guidOf(record))
  if (!served || served.deployment === 0 || served.deployment !== record.version) return undefined
  return {
    number: served.deployment,
    blocks: served.compiled.blocks,
    extensions: served.extensions ?? {},
  }
}

function servedStorages(live: LiveBlueprints, guid: string): readonly string[] {
  return [...(live.table().blueprints.get(guid)?.compiled.needs.keys() ?? [])]
}

function tell(log: SystemLog['write'], blueprint: string, notes: readonly DeployNote[]): void {
  for (const { level, message, block } of notes)
    log({ level, message, blueprint, ...(block !== '' && { block }) })
}

/** For the reply to a deploy. */
function warningsIn(notes: readonly DeployNote[]): JsonObject {
  const warnings = notes
    .filter(({ level }) => level === 'warn')
    .map(({ level: _level, ...problem }) => ({ ...problem }))
  return warnings.length === 0 ? {} : { warnings }
}

// Blocks that put users into authentication groups: they do for every caller what their deployer must be allowed to do.

/** VALIDATION_FAILED for a group that does not exist, INSUFFICIENT_PERMISSIONS for a scope that the deployer lacks. */
async function refuseLackedGroups(
  session: Session,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  lacks: (scope: string) => boolean,
): Promise<void> {
  for (const block of blocks) {
    const definition = catalogue.get(block.type)
    if (definition?.kind !== 'flow' || definition.givesGroups === undefined) continue
    const names = textsIn(block.fields[definition.givesGroups])
    if (names.length === 0) continue
    const query = { kind: 'terms', field: 'name', values: [...names] } as const
    const groups = await findAll(session, systemStorages.groups, query, names.length)
    const missing = names.find((name) => !groups.some((group) => textIn(group.name) === name))
    if (missing !== undefined) {
      const message = `There is no authentication group ${missing}.`
      const problem = { block: block.guid, pin: definition.givesGroups, message }
      throw refusedBlueprint('cannot run', [problem], blocks)
    }
    const scope = groups.flatMap((group) => textsIn(group.scopes)).find(lacks)
    if (scope !== undefined)
      throw new QuoinError(
        'INSUFFICIENT_PERMISSIONS',
        `The blueprint has the block ${JSON.stringify(block.title || definition.title)}, which gives users the scope ${scope}. Only a user who holds it may deploy the blueprint.`,
      )
  }
}

/** Makes the storages that a blueprint uses, what its searches need of them, and their records. */
async function ensureStorages(
  context: RecordContext,
  needs: ReadonlyMap<string, Needs>,
  by: Actor,
): Promise<void> {
  for (const [name, need] of needs) {
    // The block refuses such names too; this is the wall behind the door.
    if (isOwnStorage(name))
      throw new QuoinError('INVALID_BODY', `The storage ${name} belongs to Quoin itself.`)
    await context.database.ensure(name, need)
    await context.database.ensure(name, expiryNeeds)
    await transact(
      context.database,
      async (session) => {
        const query = { kind: 'term', field: 'name', value: name } as const
        if ((await session.count(systemStorages.storages, query)) > 0) return
        const author = { ...by }
        await session.create(
          systemStorages.storages,
          setFields({ name, description: '', history: false, created_by: author, modified_by: author }),
        )
      },
      { user: by },
    )
  }
}

/**
 * Drops the indexes of these storages that no active blueprint needs: each makes every write slower (about 5 µs). Never
 * throws, since what was deployed is deployed; what stays is dropped the next time.
 */
export async function dropUnusedIndexes(
  database: Database,
  live: LiveBlueprints,
  names: Iterable<string>,
  log: SystemLog['write'],
): Promise<void> {
  for (const name of new Set(names)) {
    // Quoin's own storages say themselves what they need.
    if (isOwnStorage(name) || !database.has(name)) continue
    const needed: Index[] = [...(expiryNeeds.indexes ?? []), ...(removedNeeds.indexes ?? [])]
    for (const { compiled } of live.table().blueprints.values())
      needed.push(...(compiled.needs.get(name)?.indexes ?? []))
    try {
      await database.capabilities.indexes.release(name, needed)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      log({ level: 'warn', message: `Indexes of ${name} that are no longer used stay for now: ${why}` })
    }
  }
}
