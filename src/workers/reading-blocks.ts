import type { BlockDefinition } from '../blocks/block.ts'
import { refuseWrite } from '../storage/write-refused.ts'

/**
 * The blocks as a process that only reads has them: those that touch the world outside are refused like writes. Such a
 * run is done anew by the writer, and what it did outside would be done twice.
 */
export function readingBlocks(
  catalogue: ReadonlyMap<string, BlockDefinition>,
): ReadonlyMap<string, BlockDefinition> {
  return new Map([...catalogue].map(([type, definition]) => [type, readingBlock(definition)]))
}

function readingBlock(definition: BlockDefinition): BlockDefinition {
  if (definition.kind !== 'flow' || !definition.outside) return definition
  return { ...definition, run: (_inputs, { session }) => refuseWrite(session) }
}
