/** What keeps a blueprint from being deployed, and what is only told. */

import type { BlockDefinition, FlowBlock, TriggerBlock } from '../../blocks/block.ts'
import { readSettings } from '../../blocks/pins/read-settings.ts'
import { rulesIn } from '../../records/fields/field-rules.ts'
import { uniqueKeysOf } from '../../records/fields/unique-fields.ts'
import { getRecord, type RecordContext } from '../../records/records.ts'
import { looksLikeAccountPath } from '../../shared/account-paths.ts'
import type { Block } from '../../shared/blueprint.ts'
import { type Problem, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import {
  type CompiledBlueprint,
  compileInTurns,
  type PresentFacts,
  refusedBlueprint,
} from '../compile/compile-blueprint.ts'
import { asProblem } from '../compile/notes/deploy-note.ts'
import { applyValidationRules, type Findings } from './apply-validation-rules.ts'
import type { LiveBlueprints } from './live-blueprints.ts'
import { unknownFunctions } from './unknown-functions.ts'
import { unknownKeys } from './unknown-keys.ts'
import type { Candidate } from './validation-kinds.ts'

type Catalogue = ReadonlyMap<string, BlockDefinition>

interface CheckParts {
  readonly context: RecordContext
  readonly catalogue: Catalogue
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
  { context, catalogue, live, present }: CheckParts,
  guid: string,
  blocks: readonly Block[],
): Promise<Checked> {
  const session = context.database.session()
  const record = await getRecord(session, ownStorages.blueprints, guid, 'blueprint')
  const served = live.table().blueprints.get(guid)?.compiled
  const facts = await present()
  const { blueprint: compiled, problems } = await compileInTurns(guid, blocks, catalogue, facts, served)
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
  const hasFields = database.has(ownStorages.fields)
  const keysOf = async (storage: string) => [
    ...database.capabilities.uniqueValues.of(storage),
    ...(hasFields ? uniqueKeysOf(await rulesIn(session, storage)) : []),
  ]
  const notes = [
    ...compiled.notes.filter((note) => !note.refused),
    ...unknownFunctions(compiled, live.table()),
    ...(await unknownKeys(blocks, keysOf)),
  ]
  if (!database.has(ownStorages.validationRules)) return { failing, errors: [], notes }
  const ruled = await applyValidationRules(session, candidate)
  return { failing, errors: ruled.errors, notes: [...notes, ...ruled.notes] }
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

/** A block of a deployed flow acts for every caller, so its deployer must hold what it allows. */
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
        `The blueprint has the block ${JSON.stringify(title || definition.title)}. Only a user who holds the scope ${scope} may deploy it.`,
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
