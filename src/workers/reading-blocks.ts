import type { BlockDefinition } from '../blocks/block.ts'
import type { Origin } from '../storage/database.ts'
import { WriteRefused } from '../storage/write-refused.ts'

/**
 * The blocks as a process that only reads has them: those that touch the world outside, publish or use
 * secrets are refused like writes. Such a
 * run is done again by the writer, and what it did outside would be done twice.
 */
export function readingBlocks(
  catalogue: ReadonlyMap<string, BlockDefinition>,
  refused: (origin: Origin) => void,
): ReadonlyMap<string, BlockDefinition> {
  return new Map([...catalogue].map(([type, definition]) => [type, readingBlock(definition, refused)]))
}

function readingBlock(definition: BlockDefinition, refused: (origin: Origin) => void): BlockDefinition {
  if (definition.kind !== 'flow') return definition
  // Uses of secrets are audited, which is a write.
  const usesSecrets = Object.values(definition.in).some(({ type }) => type === 'secret')
  if (!definition.outside && !definition.publishes && !usesSecrets) return definition
  return {
    ...definition,
    run(_inputs, { session }) {
      refused(session.origin)
      throw new WriteRefused()
    },
  }
}
