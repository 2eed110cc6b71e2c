import { partsProblems } from '../applications/parts-problems.ts'
import { loadBlocks } from '../blocks/load-blocks.ts'
import { importBlueprint, partsOfFile } from '../flows/blueprints/blueprint-file.ts'
import { compileBlueprint } from '../flows/compile/compile-blueprint.ts'
import { liveBlueprints } from '../flows/live/live-blueprints.ts'
import { reservedRoots } from '../http/server/reserved-roots.ts'
import { extensionOf, folderBlocks } from '../records/extensions/extension-folder.ts'
import { problemLine, QuoinError } from '../shared/errors.ts'
import { isJsonObject } from '../shared/json.ts'
import type { Terminal } from './command.ts'

/** One line each: `block.pin: what is wrong`. Blocks are named by their ids in the file. */
export interface BlueprintFindings {
  /** What keeps it from running. */
  readonly problems: readonly string[]
  /** What its builder should know all the same. */
  readonly warnings: readonly string[]
  /** Types of blocks that only an extension of the cluster can have: what they do is not checked here. */
  readonly elsewhere: readonly string[]
}

/** Nothing is stored and nothing runs. What other blueprints hold is only known to a cluster. `present`: the types of its blocks. */
export async function blueprintProblems(
  json: unknown,
  { options }: Pick<Terminal, 'options'>,
  present: ReadonlySet<string> = new Set(),
): Promise<BlueprintFindings> {
  try {
    const ids = idsIn(json)
    let next = 0
    // The ids of the file serve as guids, so that every message names a block as the file does.
    const { blocks } = importBlueprint(json, () => ids[next++] ?? '')
    const types = new Set(blocks.map(({ type }) => type))
    const { catalogue, missing } = await folderBlocks([options().blocks], await loadBlocks(), types)
    const unusable = missing(blocks)
    const elsewhere = [...types].filter((type) => extensionOf(type) !== '' && !catalogue.has(type))
    const ofParts = partsProblems(partsOfFile(json))
    if (elsewhere.length > 0 && elsewhere.every((type) => present.has(type)))
      return { problems: ofParts, warnings: [], elsewhere }
    if (unusable.length > 0) return { problems: unusable.map(problemLine), warnings: [], elsewhere }
    const { blueprint, problems } = compileBlueprint('file', blocks, catalogue)
    if (!blueprint) return { problems: [...ofParts, ...problems.map(problemLine)], warnings: [], elsewhere }
    liveBlueprints(reservedRoots).checkClaims(blueprint)
    const refused = blueprint.notes.filter((note) => note.refused)
    const reported = blueprint.notes.filter((note) => !note.refused)
    const lines = [...ofParts, ...refused.map(problemLine)]
    return { problems: lines, warnings: reported.map(problemLine), elsewhere }
  } catch (error) {
    if (error instanceof QuoinError) return { problems: [error.message], warnings: [], elsewhere: [] }
    throw error
  }
}

function idsIn(json: unknown): string[] {
  return isJsonObject(json) && isJsonObject(json.blocks) ? Object.keys(json.blocks) : []
}
