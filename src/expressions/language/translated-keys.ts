/** The keys of texts that expressions name: of `translate('deals.title')`, and not of keys that are calculated. */
import { type Argument, type Entry, type Expression, partsOf, type Spread } from './expression.ts'
import { parseExpression } from './parse-expression.ts'

export interface TranslatedKey {
  readonly key: string
  /** Zero-based column. */
  readonly start: number
}

export function translatedKeys(text: string): readonly TranslatedKey[] {
  if (!text.includes('translate')) return []
  const { expression } = parseExpression(text)
  if (!expression) return []
  const found: TranslatedKey[] = []
  const queue: (Argument | Entry | Spread)[] = [expression.root satisfies Expression]
  for (let part = queue.pop(); part; part = queue.pop()) {
    queue.push(...partsOf(part))
    if (part.kind !== 'call' || part.name !== 'translate') continue
    const [key] = part.arguments
    if (key?.kind === 'literal' && typeof key.value === 'string')
      found.push({ key: key.value, start: key.start })
  }
  return found
}
