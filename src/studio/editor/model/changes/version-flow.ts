import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { Flow } from '../flow.ts'

/** The blocks of a version as a flow. */
export function flowOfVersion(blocks: readonly (BlockContent & { readonly guid: string })[]): Flow {
  return new Map(blocks.map(({ guid, ...content }) => [guid, content]))
}
