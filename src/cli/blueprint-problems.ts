import { partsProblems } from '../applications/parts-problems.ts'
import { loadBlocks } from '../blocks/load-blocks.ts'
import { importBlueprint, partsOfFile } from '../flows/blueprints/blueprint-file.ts'
import { compileBlueprint } from '../flows/compile/compile-blueprint.ts'
import { liveBlueprints } from '../flows/live/live-blueprints.ts'
import { reservedRoots } from '../http/server/reserved-roots.ts'
import { folderBlocks } from '../records/extensions/extension-folder.ts'
import { problemLine, QuoinError } from '../shared/errors.ts'
import { isJsonObject } from '../shared/json.ts'
import type { Terminal } from './command.ts'

/** One line each: `block.pin: what is wrong`. Blocks are named by their ids in the file. */
export interface BlueprintFindings {
  /** What keeps it from running. */
  readonly problems: readonly string[]
  /** What its builder should know all the same. */
  readonly warnings: readonly string[]
}

/** Nothing is stored and nothing runs. What other blueprints hold is only known to a cluster. */
export async function blueprintProblems(
  json: unknown,
  { options }: Pick<Terminal, 'options'>,
): Promise<BlueprintFindings> {
  try {
    const ids = idsIn(json)
    let next = 0
    // The ids of the file serve as guids, so that every message names a block as the file does.
    const { blocks } = importBlueprint(json, () => ids[next++] ?? '')
    const types = new Set(blocks.map(({ type }) => type))
    const { catalogue, missing } = await folderBlocks([options().blocks], await loadBlocks(), types)
    const unusable = missing(blocks)
    if (unusable.length > 0) return { problems: unusable.map(problemLine), warnings: [] }
    const ofParts = partsProblems(partsOfFile(json))
    const { blueprint, problems } = compileBlueprint('file', blocks, catalogue)
    if (!blueprint) return { problems: [...ofParts, ...problems.map(problemLine)], warnings: [] }
    liveBlueprints(reservedRoots).checkClaims(blueprint)
    const refused = blueprint.notes.filter((note) => note.refused)
    const reported = blueprint.notes.filter((note) => !note.refused)
    return { problems: [...ofParts, ...refused.map(problemLine)], warnings: reported.map(problemLine) }
  } catch (error) {
    if (error instanceof QuoinError) return { problems: [error.message], warnings: [] }
    throw error
  }
}

function idsIn(json: unknown): string[] {
  return isJsonObject(json) && isJsonObject(json.blocks) ? Object.keys(json.blocks) : []
}
