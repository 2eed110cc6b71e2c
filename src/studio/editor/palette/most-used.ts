import type { BlockDescription, BlockUses } from '../../../shared/api/blocks/blocks.ts'
import { grouped, type PaletteGroup } from '../model/palette-search.ts'

/** More would push the groups out of sight. */
const MOST = 6
/** A type that one blueprint has used once says nothing about what is used. */
const LEAST_USES = 2

export const MOST_USED = 'most_used'
export const FITS_NEXT = 'fits_next'

/** The groups of the palette, behind a first one of the blocks that this cluster uses most. Each block is in one group. */
export function withMostUsed(blocks: readonly BlockDescription[], uses: BlockUses): PaletteGroup[] {
  const counts = new Map(uses.map(({ type, count }) => [type, count]))
  // Blueprints may name a type by a former name.
  const countOf = ({ identifier, aliases }: BlockDescription) =>
    [identifier, ...aliases].reduce((sum, name) => sum + (counts.get(name) ?? 0), 0)
  const first = blocks
    .filter((block) => countOf(block) >= LEAST_USES)
    .toSorted((a, b) => countOf(b) - countOf(a))
    .slice(0, MOST)
  const rest = grouped(blocks.filter((block) => !first.includes(block)))
  return first.length === 0 ? rest : [{ group: MOST_USED, blocks: first }, ...rest]
}

/** A group of its own for the first ones, and the others in their groups behind it. */
export function withFirst(
  first: readonly BlockDescription[],
  blocks: readonly BlockDescription[],
  groups: (rest: readonly BlockDescription[]) => PaletteGroup[],
): PaletteGroup[] {
  const there = first.filter((block) => blocks.includes(block))
  if (there.length === 0) return groups(blocks)
  return [{ group: FITS_NEXT, blocks: there }, ...groups(blocks.filter((block) => !there.includes(block)))]
}
