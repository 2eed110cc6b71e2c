/** What keeps a blueprint from being deployed, and what is only told. */
import type { BlockDefinition, FlowBlock, TriggerBlock } from '../../blocks/block.ts'
import { isOperation } from '../../blocks/pins/operation-problem.ts'
import { readSettings } from '../../blocks/pins/read-settings.ts'
import type { ExtensionCatalogue } from '../../records/extensions/extensions.ts'
import { rulesIn } from '../../records/fields/field-rules.ts'
import { uniqueKeysOf } from '../../records/fields/unique-fields.ts'
import { presentHashes } from '../../records/operations/stored-operations.ts'
import { findRecords, getRecord, type RecordContext } from '../../records/records.ts'
import { looksLikeAccountPath } from '../../shared/account-paths.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Problem, QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { isMeant } from '../../storage/unique/active-unique-key.ts'
import type { UniqueKey } from '../../storage/unique/unique-key.ts'
import {
  type CompiledBlueprint,
  compileCooperatively,
  type PresentFacts,
  refusedBlueprint,
} from '../compile/compile-blueprint.ts'
import { asProblem, bounded, type DeployNote } from '../compile/notes/deploy-note.ts'
import type { LiveBlueprints, LiveTable } from './live-blueprints.ts'
import { type Candidate, findRuleKind } from './validation-kinds.ts'

const findByKey: ReadonlySet<string> = new Set(['function_upsert_document', 'store_rows'])

/**
 * Blocks that look for a document by fields that are not unique in their storage: every run of one would fail. `keysOf`: those in
 * force, and those that fields name, which the storage gets when it is made.
 */
async function unknownKeys(
  blocks: readonly Block[],
  keysOf: (storage: string) => Promise<readonly UniqueKey[]>,
): Promise<readonly DeployNote[]> {
  const byGuid = new Map(blocks.map((block) => [block.guid, block]))
  const notes: DeployNote[] = []
  for (const block of blocks) {
    if (!findByKey.has(block.type)) continue
    const storage = storageOf(block, byGuid)
    const by = namesIn(block.in_pins.find(({ id }) => id === 'by')?.value)
    if (storage === undefined || by.length === 0) continue
    if ((await keysOf(storage)).some((key) => isMeant(key, by))) continue
    const message = `${by.join(', ')}: no unique field of the storage ${storage} yet. Until it is, runs of this block fail.`
    notes.push({ block: block.guid, pin: 'by', message, level: 'warn' })
  }
  return notes
}

/** As far as it is known before a run. */
function storageOf(block: Block, blocks: ReadonlyMap<string, Block>): string | undefined {
  const pin = block.in_pins.find(({ id }) => id === 'storage')
  const wired = blocks.get(pin?.from?.[0]?.block ?? '')
  const name = wired?.type === 'storage' ? wired.fields.storage : pin?.value
  return typeof name === 'string' ? name : undefined
}

function namesIn(value: JsonValue | undefined): readonly string[] {
  const names = Array.isArray(value) ? value : [value]
  return names.filter((name) => typeof name === 'string')
}

/** Names that a near one is looked for among. */
const MOST_NAMES = 1_000
/** Calls for which one is looked for; the others are not listed. */
const MOST_NEAR = 50

/** Calls of custom functions that neither the blueprint nor another active one has: each would fail when it runs. */
export function unknownFunctions(
  compiled: CompiledBlueprint,
  { blueprints }: LiveTable,
): readonly DeployNote[] {
  const tables = [compiled, ...[...blueprints.values()].map((live) => live.compiled)].filter(
    (one, at) => at === 0 || one.guid !== compiled.guid,
  )
  const missing = compiled.calls.filter(({ name }) => !tables.some(({ functions }) => functions.has(name)))
  if (missing.length === 0) return []
  const names = tables.flatMap(({ functions }) => [...functions.keys()]).slice(0, MOST_NAMES)
  const notes = missing.map(({ name, ...place }, at): DeployNote => {
    const near = at < MOST_NEAR ? nearestName(name, names) : undefined
    const meant = near === undefined ? '' : ` Did you mean ${near}?`
    const message = `There is no custom function ${name} here or in an active blueprint; the call fails until there is one.${meant}`
    return { ...place, message, level: 'warn' }
  })
  return bounded(notes, 'calls of unknown functions')
}

type Catalogue = ReadonlyMap<string, BlockDefinition>

interface CheckParts {
  readonly context: RecordContext
  readonly extensions: ExtensionCatalogue
  readonly live: LiveBlueprints
  /** What there is now beside blueprints, for warnings. */
  readonly present: () => MaybePromise<PresentFacts>
}

export interface Checked {
  readonly problems: readonly Problem[]
  readonly notes: Findings['notes']
}

/** A blueprint that is active stays so, because only a deploy is held against the rules. Gives what is only told. */
export async function validateOrRefuse(
  { context, live }: { readonly context: RecordContext; readonly live: LiveBlueprints },
  session: Session,
  candidate: Candidate,
): Promise<Findings['notes']> {
  const { failing, errors, notes } = await findings(context, live, session, candidate)
  if (failing.length > 0) throw refusedBlueprint('cannot run', failing, candidate.blocks)
  if (errors.length > 0) throw refusedBlueprint('breaks the validation rules', errors, candidate.blocks)
  return notes
}

/** All checks, for blocks that are not deployed yet. Changes nothing. */
export async function checkBlocks(
  { context, extensions, live, present }: CheckParts,
  guid: string,
  blocks: readonly Block[],
): Promise<Checked> {
  const session = context.database.session()
  const record = await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
  const missing = extensions.missing(blocks)
  // What else the compiler would say is mostly of what is missing.
  if (missing.length > 0) return { problems: missing, notes: [] }
  const served = live.table().blueprints.get(guid)?.compiled
  const facts = await present()
  const catalogue = await extensions.withVersions(extensions.versionsOf(blocks.map(({ type }) => type)))
  const { blueprint: compiled, problems } = await compileCooperatively(guid, blocks, catalogue, facts, served)
  if (!compiled) return { problems, notes: [] }
  const claimed = claimProblem(() => live.checkClaims(compiled))
  const candidate = { name: textIn(record.name), blocks, compiled }
  const { failing, errors, notes } = await findings(context, live, session, candidate)
  return { problems: [...claimed, ...failing, ...errors], notes }
}

/** What the compiler and the validation rules say of a blueprint that can run. */
async function findings(
  { database }: RecordContext,
  live: LiveBlueprints,
  session: Session,
  candidate: Candidate,
): Promise<Findings & { readonly failing: readonly Problem[] }> {
  const { compiled, blocks } = candidate
  const failing = compiled.notes.filter((note) => note.refused).map(asProblem)
  const hasFields = database.has(systemStorages.fields)
  const keysOf = async (storage: string) => [
    ...database.capabilities.uniqueValues.of(storage),
    ...(hasFields ? uniqueKeysOf(await rulesIn(session, storage)) : []),
  ]
  const notes = [
    ...compiled.notes.filter((note) => !note.refused),
    ...unknownFunctions(compiled, live.table()),
    ...(await unknownKeys(blocks, keysOf)),
    ...(await changedOperations(database, session, blocks)),
  ]
  if (!database.has(systemStorages.validationRules)) return { failing, errors: [], notes }
  const validated = await applyValidationRules(session, candidate)
  return { failing, errors: validated.errors, notes: [...notes, ...validated.notes] }
}

/** Also when the page itself did not change: any block of its flow may hand on what is typed there. */
export function refuseAccountPages({ pages }: CompiledBlueprint): void {
  const page = pages.find(({ listening }) => looksLikeAccountPath(listening.uri))
  if (!page) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `The blueprint has the page /${page.listening.uri}, where passwords are typed. Only a user who holds the scope blueprints_account_pages may deploy it.`,
  )
}

/** A block of a flow acts for every caller, so who deploys it or tries it must hold what it allows. */
export function refuseLackedScopes(
  blocks: readonly Block[],
  catalogue: Catalogue,
  lacks: (scope: string) => boolean,
): void {
  for (const { type, title, fields } of blocks) {
    const definition = catalogue.get(type)
    if (!definition || definition.kind === 'value') continue
    const scope = scopesOf(definition, fields).find(lacks)
    if (scope !== undefined)
      throw new QuoinError(
        'INSUFFICIENT_PERMISSIONS',
        `The blueprint has the block ${JSON.stringify(title || definition.title)}. Only a user who holds the scope ${scope} may deploy it or try it.`,
      )
  }
}

function scopesOf(definition: FlowBlock | TriggerBlock, fields: JsonObject): readonly string[] {
  if (definition.kind === 'flow') return definition.deployScopes ?? []
  return definition.deployScopes?.(readSettings(definition.settings, fields).values) ?? []
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

interface Findings {
  /** Refuse the deploy. */
  readonly errors: readonly Problem[]
  /** Are only told. */
  readonly notes: readonly DeployNote[]
}

/** Holds a blueprint against all validation rules. A rule of a kind that this version does not know says nothing. */
export async function applyValidationRules(session: Session, candidate: Candidate): Promise<Findings> {
  const errors: Problem[] = []
  const notes: DeployNote[] = []
  for (const rule of await findRecords(session, systemStorages.validationRules, matchAll)) {
    const { parameters } = rule
    const found = findRuleKind(textIn(rule.rule_type))?.check(
      candidate,
      isJsonObject(parameters) ? parameters : {},
    )
    const own = textIn(rule.message)
    for (const problem of found ?? []) {
      const reported = { ...problem, message: own === '' ? problem.message : `${own} (${problem.message})` }
      if (rule.severity === 'error') errors.push(reported)
      else notes.push({ ...reported, level: rule.severity === 'warning' ? 'warn' : 'info' })
    }
  }
  return { errors, notes }
}

interface Held {
  readonly block: string
  readonly id: string
  readonly hash: string
}

/** Blocks of operations that are different in the OpenAPI document of their connection now. They do what they did: nothing is refused. */
async function changedOperations(
  database: Pick<Database, 'has'>,
  session: Session,
  blocks: readonly Block[],
): Promise<readonly DeployNote[]> {
  if (!database.has(systemStorages.apiOperations)) return []
  const notes: DeployNote[] = []
  for (const [connection, held] of byConnection(blocks)) {
    const ids = [...new Set(held.map(({ id }) => id))]
    const now = await presentHashes(session, connection, ids)
    if (now === undefined) continue
    for (const { block, id, hash } of held) {
      const present = now.get(id)
      if (present === hash) continue
      const change =
        present === undefined ? `no longer has the operation ${id}` : `has the operation ${id} changed`
      const message = `The OpenAPI document of the connection ${connection} ${change}. The block does what it did; choose the operation again to take the change over.`
      notes.push({ block, pin: 'operation', message, level: 'warn' })
    }
  }
  return bounded(notes, 'blocks of changed operations')
}

function byConnection(blocks: readonly Block[]): ReadonlyMap<string, readonly Held[]> {
  const found = new Map<string, Held[]>()
  for (const { guid, type, in_pins: pins, fields } of blocks) {
    const connection = pins.find(({ id }) => id === 'connection')?.value
    const { operation } = fields
    if (type !== 'call_operation' || typeof connection !== 'string' || !isOperation(operation)) continue
    const held = found.get(connection) ?? []
    held.push({ block: guid, id: operation.id, hash: operation.hash })
    found.set(connection, held)
  }
  return found
}
