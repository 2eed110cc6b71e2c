import type { BlockDefinition } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type CompiledBlueprint, compileInTurns } from './compile-blueprint.ts'

/** Blocks that are to run at once. VALIDATION_FAILED with every problem when they cannot. */
export async function compileToRun(
  guid: string,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Promise<CompiledBlueprint> {
  const { blueprint, problems } = await compileInTurns(guid, blocks, catalogue)
  if (blueprint) return blueprint
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  throw new QuoinError('VALIDATION_FAILED', `The blueprint cannot run: ${count}.`, { problems })
}
