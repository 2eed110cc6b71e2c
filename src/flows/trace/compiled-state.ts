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
import { getVersion } from '../live/versions.ts'
import type { Tracing } from './tracing.ts'

export type BlocksState = 'saved' | 'deployed' | 'staged'

/** `deployment`: its number; 0 for blocks that are not deployed. CONFLICT, or VALIDATION_FAILED with every problem. */
export async function compiledState(
  tracing: Tracing,
  blueprint: string,
  state: BlocksState,
): Promise<{ compiled: CompiledBlueprint; deployment: number }> {
  const { extensions: all } = tracing.flows
  const { blocks, deployment, extensions } = await blocksOf(tracing, blueprint, state)
  const versions = extensions ?? all.versionsOf(blocks.map(({ type }) => type))
  return { compiled: await compileToRun(blueprint, blocks, await all.withVersions(versions)), deployment }
}

async function blocksOf(
  { flows: { records } }: Tracing,
  blueprint: string,
  state: BlocksState,
): Promise<{ blocks: readonly Block[]; deployment: number; extensions?: ExtensionVersions }> {
  const record = await getRecord(
    records.database.session(),
    systemStorages.blueprints,
    blueprint,
    'blueprint',
  )
  if (state !== 'deployed') return { blocks: await candidateBlocks(records, blueprint, state), deployment: 0 }
  const deployment = numberIn(record.version)
  if (deployment === 0) throw new QuoinError('CONFLICT', 'The blueprint was never deployed.')
  const { blocks, extensions } = await getVersion(records, blueprint, deployment)
  return { blocks, deployment, extensions }
}
