/** By which of its columns the rows of a table are named by the columns of other tables. */
import type { JsonValue } from '../../../shared/json.ts'

/** Names of a table in memory: some 150 MB. */
const MOST_NAMES = 1_000_000

export interface NamedRows {
  /** The key of the row of this name; undefined where there is none. */
  keyOf(name: string): string | undefined
  /** Not all names are in memory. */
  readonly isCut: boolean
}

/** Undefined where two rows have one name. */
export async function namedRows(
  rows: AsyncIterable<{ readonly name: JsonValue; readonly key: string }>,
): Promise<NamedRows | undefined> {
  const keys = new Map<string, string>()
  let isCut = false
  for await (const { name, key } of rows) {
    if (name === null || name === '') continue
    const text = String(name).trim()
    if (keys.has(text)) return undefined
    if (keys.size >= MOST_NAMES) {
      isCut = true
      break
    }
    keys.set(text, key)
  }
  return keys.size === 0 ? undefined : { keyOf: (name) => keys.get(name), isCut }
}

/** `Customer ID`, `customer_number` and `customers` → `customer`. */
export function stemOf(name: string): string {
  const plain = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/_(?:id|guid|uuid|key|no|nr|number|name|code|email|ref)$/, '')
  return singular(plain)
}

function singular(word: string): string {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2)
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word
}
