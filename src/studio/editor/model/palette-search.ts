import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import { paletteTexts } from '../../texts/editor.ts'

/**
 * Finds blocks by name, purpose and pin type. Each word must be found somewhere; `in:query` and `out:documents` ask for a
 * pin of that type. Gives the best first; an empty search gives all in their order.
 */
export function searchPalette(blocks: readonly BlockDescription[], text: string): BlockDescription[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return [...blocks]
  return blocks
    .map((block) => ({ block, score: scoreOf(block, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ block }) => block)
}

function scoreOf(block: BlockDescription, words: readonly string[]): number {
  let total = 0
  for (const word of words) {
    const score = wordScore(block, word)
    if (score === 0) return 0
    total += score
  }
  return total
}

function wordScore(block: BlockDescription, word: string): number {
  const [, side, type] = /^(in|out):(.+)$/.exec(word) ?? []
  if (type !== undefined) {
    const pins = Object.values(side === 'in' ? block.in : block.out)
    return pins.some((pin) => pin.type.startsWith(type)) ? 10 : 0
  }
  const own = ownScore(block, word)
  const title = block.title.toLowerCase()
  // What is called differently here stands before what only mentions the word.
  const isMeant = own < 15 && synonymsOf(word).some((other) => title.includes(other))
  return isMeant ? 12 : own
}

function ownScore(block: BlockDescription, word: string): number {
  const title = block.title.toLowerCase()
  if (title.startsWith(word)) return 20
  if (title.split(/[^a-z0-9]+/).some((part) => part.startsWith(word))) return 15
  if (block.identifier.includes(word) || block.aliases.some((alias) => alias.includes(word))) return 10
  if (title.includes(word)) return 8
  if (`${block.summary} ${block.group}`.toLowerCase().includes(word)) return 5
  const pins = [...Object.entries(block.in), ...Object.entries(block.out)]
  if (pins.some(([id, { type: pin }]) => id.includes(word) || pin.startsWith(word))) return 3
  return 0
}

export interface PaletteGroup {
  readonly group: string
  readonly blocks: readonly BlockDescription[]
}

/** In the order of the groups' first blocks. */
export function grouped(blocks: readonly BlockDescription[]): PaletteGroup[] {
  const groups = Object.groupBy(blocks, ({ group }) => group)
  return Object.entries(groups).map(([group, found]) => ({ group, blocks: found ?? [] }))
}

/** Words that people look for blocks by, and words that the blocks' own titles and help have. */
const synonyms: readonly (readonly [string, readonly string[]])[] = paletteTexts.synonyms

const byWord: ReadonlyMap<string, readonly string[]> = new Map(
  synonyms
    .flatMap(([words, meant]) => words.split(' ').map((word) => [word, meant] as const))
    .reduce(
      (all, [word, meant]) => all.set(word, [...(all.get(word) ?? []), ...meant]),
      new Map<string, string[]>(),
    ),
)

/** What a word is called in the palette; nothing for words that need no other. */
function synonymsOf(word: string): readonly string[] {
  return byWord.get(word) ?? []
}
