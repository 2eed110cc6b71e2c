import { findBlocks } from '../src/blocks/load-blocks.ts'
import { fieldTypes } from '../src/shared/fields/field-type.ts'

/** README.md with the numbers of what there is. Throws when a sentence that says one is gone. */
export async function readmeWithNumbers(readme: string): Promise<string> {
  const blocks = await findBlocks()
  const numbers: readonly (readonly [sentence: RegExp, number: number])[] = [
    [/(?<=\[)\d+(?= blocks\]\(docs\/blocks\.md\))/, blocks.length],
    [/\d+(?= page blocks)/, blocks.filter(({ group }) => group === 'pages').length],
    [/(?<=Fields of )\d+(?= types)/, fieldTypes.length],
  ]
  let text = readme
  for (const [sentence, number] of numbers) {
    if (!sentence.test(text)) throw new Error(`README.md has no sentence ${sentence}.`)
    text = text.replace(sentence, String(number))
  }
  return text
}
