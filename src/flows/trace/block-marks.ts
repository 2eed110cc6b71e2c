/** The marks of blocks, each worked out once, when a run that passed the block is stored for the first time. */
import { blockMark } from '../../expressions/language/block-mark.ts'
import type { Block } from '../../shared/blueprint.ts'

const byGuid = new WeakMap<readonly Block[], ReadonlyMap<string, Block>>()
const marks = new WeakMap<Block, string>()

/** Of the blocks that have steps, and are of these. */
export function marksOf(
  blocks: readonly Block[],
  steps: readonly { readonly block: string }[],
): Record<string, string> {
  const all = byGuid.get(blocks) ?? new Map(blocks.map((block) => [block.guid, block]))
  byGuid.set(blocks, all)
  const passed = [...new Set(steps.map(({ block }) => block))]
  return Object.fromEntries(
    passed.flatMap((guid) => {
      const block = all.get(guid)
      return block ? [[guid, markOf(block)]] : []
    }),
  )
}

function markOf(block: Block): string {
  const mark = marks.get(block) ?? blockMark(block)
  marks.set(block, mark)
  return mark
}
