/** The blocks of a blueprint in one of their states, compiled. */
import type { ExtensionVersions } from '../../records/extensions/extensions.ts'
import { getRecord } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import { numberIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { candidateBlocks } from '../blueprints/staged-content.ts'
import type { CompiledBlueprint } from '../compile/compile-blueprint.ts'
import { compileToRun } from '../compile/compile-blueprint.ts'
import { refuseLackedScopes } from '../live/check-candidate.ts'
import { getVersion } from '../live/versions.ts'
import type { Tracing } from './tracing.ts'

export type BlocksState = 'saved' | 'deployed' | 'staged'

/**
 * `deployment`: its number; 0 for blocks that are not deployed. CONFLICT, or VALIDATION_FAILED with every problem. Who runs blocks that no active
 * blueprint serves must hold what they allow, as one who deploys them: INSUFFICIENT_PERMISSIONS.
 */
export async function compiledState(
  tracing: Tracing,
  blueprint: string,
  state: BlocksState,
  lacks: (scope: string) => boolean,
): Promise<{ compiled: CompiledBlueprint; deployment: number }> {
  const { extensions: all } = tracing.flows
  const { blocks, deployment, extensions, isActive } = await blocksOf(tracing, blueprint, state)
  const catalogue = await all.withVersions(extensions ?? all.versionsOf(blocks.map(({ type }) => type)))
  if (!isActive) refuseLackedScopes(blocks, catalogue, lacks)
  return { compiled: await compileToRun(blueprint, blocks, catalogue), deployment }
}

async function blocksOf(
  { flows: { records } }: Tracing,
  blueprint: string,
  state: BlocksState,
): Promise<{
  blocks: readonly Block[]
  deployment: number
  extensions?: ExtensionVersions
  isActive: boolean
}> {
  const record = await getRecord(
    records.database.session(),
    systemStorages.blueprints,
    blueprint,
    'blueprint',
  )
  if (state !== 'deployed')
    return { blocks: await candidateBlocks(records, blueprint, state), deployment: 0, isActive: false }
  const deployment = numberIn(record.version)
  if (deployment === 0) throw new QuoinError('CONFLICT', 'The blueprint was never deployed.')
  const { blocks, extensions } = await getVersion(records, blueprint, deployment)
  return { blocks, deployment, extensions, isActive: record.active === true }
}
