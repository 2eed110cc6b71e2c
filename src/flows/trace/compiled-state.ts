/** The blocks of a blueprint in one of their states, compiled. */
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
  const { blocks, deployment } = await blocksOf(tracing, blueprint, state)
  const { catalogue } = tracing.flows
  return { compiled: await compileToRun(blueprint, blocks, catalogue), deployment }
}

async function blocksOf(
  { flows: { records } }: Tracing,
  blueprint: string,
  state: BlocksState,
): Promise<{ blocks: readonly Block[]; deployment: number }> {
  const record = await getRecord(
    records.database.session(),
    systemStorages.blueprints,
    blueprint,
    'blueprint',
  )
  if (state !== 'deployed') return { blocks: await candidateBlocks(records, blueprint, state), deployment: 0 }
  const deployment = numberIn(record.version)
  if (deployment === 0) throw new QuoinError('CONFLICT', 'The blueprint was never deployed.')
  return { blocks: (await getVersion(records, blueprint, deployment)).blocks, deployment }
}
