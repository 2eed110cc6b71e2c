import { type Argument, type Entry, type NameRead, type Place, partsOf, type Spread } from './expression.ts'
import { parseExpression } from './parse-expression.ts'

export interface RenamedPath {
  /** Which of the keys behind the name are replaced. */
  readonly from: number
  readonly length: number
  readonly keys: readonly string[]
}

/**
 * The text with another name for fields that it reads; every other character stays. `renamed` is asked for each name with the keys
 * behind it, as far as they are written out. A text that is no expression comes back as it is.
 */
export function renameFields(
  text: string,
  renamed: (name: string, path: readonly string[]) => RenamedPath | undefined,
): string {
  const { expression } = parseExpression(text)
  if (!expression) return text
  const changes: { readonly at: Place; readonly text: string }[] = []
  const visit = (part: Argument | Entry | Spread) => {
    const { first, keys } = chainOf(part)
    if (first.kind !== 'name') {
      for (const one of partsOf(part)) visit(one)
      return
    }
    const change = renamed(
      first.name,
      keys.map(({ key }) => key),
    )
    if (change) changes.push(replaced(text, first, keys, change))
  }
  visit(expression.root)
  let result = text
  for (const { at, text: written } of changes.toSorted((a, b) => b.at.start - a.at.start))
    result = result.slice(0, at.start) + written + result.slice(at.end)
  return result
}

interface Key {
  readonly key: string
  readonly end: number
}

/** `doc.a["b"]`: what it begins with, and its keys in order. Each has the end of the text up to it. */
function chainOf(part: Argument | Entry | Spread): {
  readonly first: Argument | Entry | Spread
  readonly keys: readonly Key[]
} {
  const keys: Key[] = []
  let first = part
  for (;;) {
    if (first.kind === 'member') keys.push({ key: first.key, end: first.end })
    else if (first.kind === 'index' && first.key.kind === 'literal' && typeof first.key.value === 'string')
      keys.push({ key: first.key.value, end: first.end })
    else break
    first = first.of
  }
  return { first, keys: keys.reverse() }
}

function replaced(text: string, first: NameRead, keys: readonly Key[], change: RenamedPath) {
  const start = change.from === 0 ? first.end : (keys[change.from - 1]?.end ?? first.end)
  const end = keys[change.from + change.length - 1]?.end ?? start
  const written = change.keys.map((key) =>
    /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  )
  // `doc?.title` stays careful.
  const careful = text.slice(start, end).startsWith('?.') && written[0]?.startsWith('.') ? '?' : ''
  return { at: { start, end }, text: careful + written.join('') }
}
