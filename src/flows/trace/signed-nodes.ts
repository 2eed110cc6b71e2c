/**
 * Blocks for a preview: those that add to a page write their guid onto what they add, so that a click on it finds the block. As
 * definitions and not as a probe, because blocks that depend on constants alone run while the flow is compiled.
 */
import type { BlockDefinition } from '../../blocks/block.ts'
import type { PageContent } from '../../shared/pages/page-content.ts'
import { drawnBlock } from '../compile/expand-resources.ts'

type Catalogue = ReadonlyMap<string, BlockDefinition>

export function signingBlocks(catalogue: Catalogue): Catalogue {
  return new Map([...catalogue].map(([type, definition]) => [type, signing(definition)]))
}

function signing(definition: BlockDefinition): BlockDefinition {
  if (definition.kind !== 'value' || definition.out.state?.type !== 'state') return definition
  return {
    ...definition,
    value(inputs, context) {
      const given = definition.value(inputs, context)
      const { block } = context
      if (block === undefined || !isContent(given.state)) return given
      return { ...given, state: signed(given.state, drawnBlock(block)) }
    },
  }
}

/** What is signed already was there before, and so was all before it. */
function signed(content: PageContent, block: string): PageContent {
  const added: PageContent['node'][] = []
  let at: PageContent | undefined = content
  for (; at && at.node.madeBy === undefined; at = at.before) added.push(at.node)
  return (
    added.reduceRight<PageContent | undefined>(
      (before, node) => ({ before, node: { ...node, madeBy: block } }),
      at,
    ) ?? content
  )
}

function isContent(value: unknown): value is PageContent {
  return typeof value === 'object' && value !== null && 'node' in value
}
