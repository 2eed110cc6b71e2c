/** Blocks that cannot run are left out of a preview, so that one unfinished part does not empty the page. */
import type { BlockDefinition } from '../../blocks/block.ts'
import type { Block, SavedInPin } from '../../shared/blueprint.ts'

/** What leads through a block: content of a page, and the flow. */
const THROUGH = ['state', 'flow'] as const

type End = NonNullable<SavedInPin['from']>[number]

/** The blocks without these. What takes content or the flow from one takes what led into it; other wires end. */
export function withoutBlocks(blocks: readonly Block[], left: ReadonlySet<string>): readonly Block[] {
  const byGuid = new Map(blocks.map((block) => [block.guid, block]))
  const sourcesOf = (end: End, seen: ReadonlySet<string>): readonly End[] => {
    if (!left.has(end.block)) return [end]
    const through = THROUGH.find((pin) => pin === end.pin)
    if (through === undefined || seen.has(end.block)) return []
    const before = byGuid.get(end.block)?.in_pins.find(({ id }) => id === through)?.from ?? []
    return before.flatMap((one) => sourcesOf(one, new Set([...seen, end.block])))
  }
  return blocks.flatMap((block) => {
    if (left.has(block.guid)) return []
    if (!block.in_pins.some(({ from }) => from?.some((end) => left.has(end.block)))) return [block]
    const pins = block.in_pins.flatMap((pin) => {
      if (!pin.from) return [pin]
      const from = pin.from.flatMap((end) => sourcesOf(end, new Set()))
      return from.length === 0 ? [] : [{ ...pin, from }]
    })
    return [{ ...block, in_pins: pins }]
  })
}

/** Whether the block is a part of a page: content goes in and comes out. */
export function isPart(
  blocks: readonly Block[],
  guid: string,
  catalogue: ReadonlyMap<string, BlockDefinition>,
) {
  const definition = catalogue.get(blocks.find((block) => block.guid === guid)?.type ?? '')
  return definition?.kind === 'value' && 'state' in definition.in && 'state' in definition.out
}
