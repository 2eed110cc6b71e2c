import { type Argument, type Entry, type NameRead, partsOf, type Spread } from './expression.ts'
import { parseExpression } from './parse-expression.ts'

/**
 * The text with other names for what it reads; every other character stays. `renamed` gives the new name, or undefined for
 * a name that stays. A text that is no expression comes back as it is.
 */
export function renameNames(
  text: string,
  renamed: (name: string, inBlocks: boolean) => string | undefined,
): string {
  const { expression } = parseExpression(text)
  if (!expression) return text
  const changes: { readonly at: NameRead['at']; readonly text: string }[] = []
  const visit = (part: Argument | Entry | Spread) => {
    if (part.kind === 'name') {
      const name = renamed(part.name, part.inBlocks)
      if (name !== undefined) changes.push({ at: part.at, text: name })
    } else if (part.kind === 'entry' && part.shorthand && part.value.kind === 'name') {
      const name = renamed(part.value.name, false)
      if (name !== undefined) changes.push({ at: part.value.at, text: `${part.key}: ${name}` })
    } else for (const one of partsOf(part)) visit(one)
  }
  visit(expression.root)
  let result = text
  for (const change of changes.toSorted((a, b) => b.at.start - a.at.start))
    result = result.slice(0, change.at.start) + change.text + result.slice(change.at.end)
  return result
}
