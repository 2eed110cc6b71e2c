import { paletteTexts } from '../../texts/palette.ts'

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
export function synonymsOf(word: string): readonly string[] {
  return byWord.get(word) ?? []
}
