import type { BlockDefinition } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type CompiledBlueprint, compileInTurns } from './compile-blueprint.ts'
import type { Probe } from './probe.ts'

/** Blocks that are to run at once, with a probe in them. VALIDATION_FAILED with every problem when they cannot. */
export async function compileToRun(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  probe: Probe,
): Promise<CompiledBlueprint> {
  const { blueprint, problems } = await compileInTurns(guid, blocks, catalogue, { probe })
  if (blueprint) return blueprint
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  throw new QuoinError('VALIDATION_FAILED', `The blueprint cannot run: ${count}.`, { problems })
}
