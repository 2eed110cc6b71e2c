import { loadBlocks } from '../blocks/load-blocks.ts'
import { importBlueprint } from '../engine/blueprint-file.ts'
import { type CompiledBlueprint, compileBlueprint } from '../engine/compile-blueprint.ts'
import { liveBlueprints } from '../engine/live-blueprints.ts'
import { reservedRoots } from '../http/reserved-roots.ts'
import { type Problem, QuoinError } from '../shared/errors.ts'
import { isJsonObject } from '../shared/json.ts'

/**
 * What keeps a blueprint file from running, one line each: `block.pin: what is wrong`. Blocks are named by their ids in
 * the file. Nothing is stored and nothing runs. What other blueprints hold is only known to a cluster.
 */
export async function blueprintProblems(json: unknown): Promise<readonly string[]> {
  try {
    const ids = idsIn(json)
    let next = 0
    // The ids of the file serve as guids, so that every message names a block as the file does.
    const { blocks } = importBlueprint(json, () => ids[next++] ?? '')
    const { blueprint, problems } = compileBlueprint('file', blocks, await loadBlocks())
    return blueprint ? claimProblems(blueprint) : problems.map(problemLine)
  } catch (error) {
    if (error instanceof QuoinError) return [error.message]
    throw error
  }
}

function problemLine({ block, pin, message }: Problem): string {
  return `${pin === undefined ? block : `${block}.${pin}`}: ${message}`
}

function idsIn(json: unknown): string[] {
  return isJsonObject(json) && isJsonObject(json.blocks) ? Object.keys(json.blocks) : []
}

function claimProblems(blueprint: CompiledBlueprint): readonly string[] {
  liveBlueprints(reservedRoots).checkClaims(blueprint)
  return []
}
