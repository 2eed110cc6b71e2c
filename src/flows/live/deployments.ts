/**
 * What answers requests is not the saved blocks but a copy of them: a deployment. Each is kept, numbered per blueprint.
 *
 * Activating: the saved blocks are compiled; every problem is listed (422) and nothing changes; URIs and function names
 * that another active blueprint holds are refused (409); storages and indexes are made; the deployment and `active` are
 * written in one transaction; then the compiled blueprint replaces the former one in one step. Work of this kind is done
 * one at a time in the whole cluster, so that two activations cannot both find a URI free.
 *
 * Other nodes watch the storage of blueprints: before a write to it is acknowledged, each has read the blueprint's record
 * anew and serves what that says.
 */
import { isDeepStrictEqual } from 'node:util'
import type { BlockDefinition } from '../../blocks/block.ts'
import {
  type Actor,
  getRecord,
  notFound,
  type RecordContext,
  recordStorages,
  savedBlocks,
} from '../../records/records.ts'
import type { SystemLog } from '../../records/system-log.ts'
import { isAccountPath } from '../../shared/account-paths.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Problem, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { oneAtATime } from '../../shared/one-at-a-time.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { transact } from '../../storage/transact.ts'
import { type CompiledBlueprint, compileInTurns } from '../compile/compile-blueprint.ts'
import type { DeployNote } from '../compile/deploy-notes.ts'
import { applyValidationRules, type Findings } from './apply-validation-rules.ts'
import { dropUnusedIndexes } from './drop-unused-indexes.ts'
import type { LiveBlueprints } from './live-blueprints.ts'
import { notingPreparations } from './note-preparations.ts'
import { servedBlueprints } from './served-blueprints.ts'
import { ensureStorages } from './used-storages.ts'
import type { Candidate } from './validation-kinds.ts'
import { validationRuleStorage } from './validation-rules.ts'
import { getVersion } from './versions.ts'

export interface Difference {
  readonly guid: string
  readonly type: string
  readonly change: 'created' | 'updated' | 'removed'
  readonly before: Block | null
  readonly after: Block | null
}

export interface Checked {
  readonly problems: readonly Problem[]
  readonly notes: Findings['notes']
}

/** Who deploys. */
export interface Deployer extends Actor {
  /** Whether the blueprint may have the page login, logout or password: see `account-paths.ts`. */
  readonly mayTakeAccountPages: boolean
}

export interface Deployments {
  /** Deploys the saved blocks and makes them answer. INSUFFICIENT_PERMISSIONS for a page that `by` may not take. */
  activate(guid: string, by: Deployer): Promise<JsonObject>
  /** Deploys without a gap; an inactive blueprint stays inactive. As `activate` for an active one. */
  deploy(guid: string, by: Deployer): Promise<JsonObject>
  deactivate(guid: string, by: Actor): Promise<JsonObject>
  /** Deploys the blocks of a former version as a new one. The saved blocks stay as they are. */
  rollBack(guid: string, number: number, by: Deployer): Promise<JsonObject>
  /** What would keep blocks from being deployed, and what would only be said. Changes nothing. */
  check(guid: string, blocks: readonly Block[]): Promise<Checked>
  /** The blocks that differ between saved and deployed. */
  pending(guid: string): Promise<Difference[]>
  /** At start: compiles and serves whatever is active; what cannot be stays off until it is repaired, and is logged. */
  restore(): Promise<void>
  /** Stops to follow what other nodes deploy. */
  close(): void
}

export function openDeployments(
  context: RecordContext,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  live: LiveBlueprints,
  log: SystemLog['write'] = () => undefined,
): Deployments {
  const alone = <T>(work: () => Promise<T>) => context.database.capabilities.alone('deployments', work)
  // Of this node: what it hears from others and what it reads at its start.
  const inTurn = oneAtATime()
  const { deployed, follow, restore } = servedBlueprints({ context, live, log, compile })
  const unwatch = context.database.capabilities.changes.watch(recordStorages.blueprints, (guids) =>
    inTurn('follow', () => (guids ? follow(guids) : restore())),
  )

  async function compile(guid: string, blocks: readonly Block[]): Promise<CompiledBlueprint> {
    const { blueprint, problems } = await compileInTurns(guid, blocks, catalogue)
    if (!blueprint) throw refused('cannot run', problems)
    return blueprint
  }

  /** What the compiler and the validation rules say of a blueprint that can run. */
  async function findings(session: Session, candidate: Candidate): Promise<Findings> {
    const { notes } = candidate.compiled
    if (!context.database.has(validationRuleStorage)) return { errors: [], notes }
    const ruled = await applyValidationRules(session, candidate)
    return { errors: ruled.errors, notes: [...notes, ...ruled.notes] }
  }

  /** A blueprint that is active stays so, because only a deploy is held against the rules. Gives what is only told. */
  async function validate(session: Session, candidate: Candidate): Promise<readonly DeployNote[]> {
    const { errors, notes } = await findings(session, candidate)
    if (errors.length > 0) throw refused('breaks the validation rules', errors)
    for (const { level, message, block } of notes)
      log({ level, message, blueprint: candidate.compiled.guid, ...(block !== '' && { block }) })
    return notes
  }

  async function put(
    guid: string,
    { mayTakeAccountPages, ...by }: Deployer,
    activate: boolean,
    version?: number,
  ): Promise<JsonObject> {
    const session = context.database.session()
    const record = await getRecord(session, recordStorages.blueprints, guid, 'blueprint')
    const blocks =
      version === undefined
        ? await savedBlocks(context, session, guid)
        : (await getVersion(context, guid, version)).blocks
    const compiled = await compile(guid, blocks)
    const notes = await validate(session, { name: textIn(record.name), blocks, compiled })
    const active = activate || record.active === true
    if (active) live.checkClaims(compiled)
    if (active && !mayTakeAccountPages) refuseAccountPages(compiled)
    await notingPreparations({ indexes: context.database.capabilities.indexes, log, blueprint: guid }, () =>
      ensureStorages(context, compiled.needs, by),
    )
    const before = await deployed(session, record)
    const unchanged = before.number > 0 && isDeepStrictEqual(plain(before.blocks), plain(blocks))
    const written = await transact(
      context.database,
      async (writing) => {
        const changes: Record<string, JsonObject[string]> = { active, modified_by: { ...by } }
        if (!unchanged) {
          const number = before.number + 1
          const fields = { blueprint_guid: guid, number, blocks: plain(blocks), by: { ...by } }
          const deployment = documentOf(await writing.create(recordStorages.deployments, setFields(fields)))
          Object.assign(changes, { deployment_guid: guidOf(deployment), version: number })
        }
        const update = await writing.update(recordStorages.blueprints, guid, setFields(changes))
        if (update.outcome !== 'written') throw notFound(guid, 'blueprint')
        return documentOf(update.document)
      },
      { user: by },
    )
    const next = { compiled, name: textIn(written.name), deployment: Number(written.version) }
    const former = usedStorages(guid)
    // Behind a restore that has read the former state.
    if (active) await inTurn('follow', async () => live.set(guid, next))
    if (active) await dropUnusedIndexes(context.database, live, [...former, ...compiled.needs.keys()], log)
    return { ...written, ...warningsIn(notes) }
  }

  function usedStorages(guid: string): readonly string[] {
    return [...(live.table().blueprints.get(guid)?.compiled.needs.keys() ?? [])]
  }

  return {
    activate: (guid, by) => alone(() => put(guid, by, true)),
    deploy: (guid, by) => alone(() => put(guid, by, false)),
    rollBack: (guid, number, by) => alone(() => put(guid, by, false, number)),
    async check(guid, blocks) {
      const session = context.database.session()
      const record = await getRecord(session, recordStorages.blueprints, guid, 'blueprint')
      const { blueprint: compiled, problems } = await compileInTurns(guid, blocks, catalogue)
      if (!compiled) return { problems, notes: [] }
      const claimed = claimProblem(() => live.checkClaims(compiled))
      const candidate = { name: textIn(record.name), blocks, compiled }
      const { errors, notes } = await findings(session, candidate)
      return { problems: [...claimed, ...errors], notes }
    },
    deactivate: (guid, by) =>
      alone(async () => {
        const record = await transact(
          context.database,
          async (session) => {
            const changes = setFields({ active: false, modified_by: { ...by } })
            const update = await session.update(recordStorages.blueprints, guid, changes)
            if (update.outcome !== 'written') throw notFound(guid, 'blueprint')
            return documentOf(update.document)
          },
          { user: by },
        )
        const former = usedStorages(guid)
        await inTurn('follow', async () => live.set(guid, undefined))
        await dropUnusedIndexes(context.database, live, former, log)
        return record
      }),
    async pending(guid) {
      const session = context.database.session()
      const record = await getRecord(session, recordStorages.blueprints, guid, 'blueprint')
      const { blocks } = await deployed(session, record)
      return differences(blocks, await savedBlocks(context, session, guid))
    },
    restore: () => inTurn('follow', restore),
    close: unwatch,
  }
}

/** Also when the page itself did not change: any block of its flow may hand on what is typed there. */
function refuseAccountPages({ pages }: CompiledBlueprint): void {
  const page = pages.find(({ listening }) => isAccountPath(listening.uri))
  if (!page) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `The blueprint has the page /${page.listening.uri}, where passwords are typed. Only a user who holds the scope blueprints_account_pages may deploy it.`,
  )
}

/** A URI or name that another active blueprint holds, as a problem of the whole blueprint. */
function claimProblem(check: () => void): Problem[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof QuoinError) return [{ block: '', message: error.message }]
    throw error
  }
}

function refused(how: string, problems: readonly Problem[]): QuoinError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return new QuoinError('VALIDATION_FAILED', `The blueprint ${how}: ${count}.`, { problems })
}

/** For the reply to a deploy. */
function warningsIn(notes: readonly DeployNote[]): JsonObject {
  const warnings = notes
    .filter(({ level }) => level === 'warn')
    .map(({ block, pin, message }) => ({ block, message, ...(pin !== undefined && { pin }) }))
  return warnings.length === 0 ? {} : { warnings }
}

/** As it comes back from the storage, so that what is equal there is equal here. */
function plain(blocks: readonly Block[]): JsonObject[] {
  const parsed: unknown = JSON.parse(JSON.stringify(blocks))
  return Array.isArray(parsed) ? parsed.filter(isJsonObject) : []
}

function differences(deployed: readonly Block[], saved: readonly Block[]): Difference[] {
  const before = new Map(deployed.map((block) => [block.guid, block]))
  const after = new Map(saved.map((block) => [block.guid, block]))
  const found: Difference[] = []
  for (const [guid, block] of after) {
    const old = before.get(guid)
    if (!old) found.push({ guid, type: block.type, change: 'created', before: null, after: block })
    else if (!isDeepStrictEqual(plain([old]), plain([block]))) {
      found.push({ guid, type: block.type, change: 'updated', before: old, after: block })
    }
  }
  for (const [guid, block] of before) {
    if (!after.has(guid))
      found.push({ guid, type: block.type, change: 'removed', before: block, after: null })
  }
  return found
}
