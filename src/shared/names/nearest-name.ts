import { wordsLike } from './similar-word.ts'

const LONGEST = 256

/**
 * The name that was probably meant: the one that differs in capitals alone, the one that begins so and with which all others that do
 * begin, or the one with the fewest wrong letters, at most 3.
 */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  // No name is so long; a request may hold a megabyte where one belongs.
  if (typed.length > LONGEST) return undefined
  const lower = typed.toLowerCase()
  const same = names.find((name) => name.toLowerCase() === lower)
  if (same !== undefined) return same
  const begun = typed.length < 2 ? [] : names.filter((name) => name.startsWith(typed))
  const shortest = begun.find((name) => begun.every((other) => other.startsWith(name)))
  if (shortest !== undefined) return shortest
  // Of a short word everything is a misspelling.
  const most = Math.min(3, Math.floor(typed.length / 2))
  for (let distance = 1; distance <= most; distance++) {
    const found = names.find(wordsLike(typed, distance))
    if (found !== undefined) return found
  }
  return undefined
}
