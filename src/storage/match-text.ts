import { parseSimpleQueryString, type TextPhrase, type TextQuery } from './simple-query-string.ts'
import { VALUE_BREAK } from './text-tokens.ts'

const memo = new Map<string, TextQuery>()

/** The parsed text. Remembered, because a scan asks for the same text once a document. */
export function textQuery(text: string): TextQuery {
  const known = memo.get(text)
  if (known) return known
  const query = parseSimpleQueryString(text)
  if (memo.size >= 500) memo.clear()
  memo.set(text, query)
  return query
}

/** Whether a document with these tokens satisfies the query. */
export function textMatches(query: TextQuery, tokens: readonly string[]): boolean {
  switch (query.kind) {
    case 'all':
      return true
    case 'none':
      return false
    case 'and':
      return query.parts.every((part) => textMatches(part, tokens))
    case 'or':
      return query.parts.some((part) => textMatches(part, tokens))
    case 'not':
      return !textMatches(query.part, tokens)
    case 'fuzzy':
      return hasSimilar(query, tokens)
    case 'phrase':
      return query.slop > 0 ? isNear(query.tokens, query.slop, tokens) : phraseCount(query, tokens, 1) > 0
  }
}

/** How often the tokens stand side by side in order, counted up to `enough`. Slop is not regarded. */
export function phraseCount(
  phrase: Pick<TextPhrase, 'tokens' | 'prefix'>,
  tokens: readonly string[],
  enough = Number.POSITIVE_INFINITY,
): number {
  const last = phrase.tokens.length - 1
  let count = 0
  for (let start = 0; start + last < tokens.length && count < enough; start++) {
    let length = 0
    while (length <= last) {
      const wanted = phrase.tokens[length] ?? ''
      const token = tokens[start + length] ?? ''
      if (token !== wanted && !(phrase.prefix && length === last && token.startsWith(wanted))) break
      length += 1
    }
    if (length > last) count += 1
  }
  return count
}

/** Whether one value holds all of the words within a window of their number and `slop` more, in any order. */
function isNear(words: readonly string[], slop: number, tokens: readonly string[]): boolean {
  const lastSeen = new Map<string, number>(words.map((word) => [word, Number.NEGATIVE_INFINITY]))
  const reach = words.length + slop - 1
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? ''
    if (token === VALUE_BREAK) {
      for (const word of lastSeen.keys()) lastSeen.set(word, Number.NEGATIVE_INFINITY)
    } else if (lastSeen.has(token)) {
      lastSeen.set(token, at)
      if (Math.min(...lastSeen.values()) >= at - reach) return true
    }
  }
  return false
}

/** Tokens already judged, by query: a scan meets the same few thousand words again and again. */
const judged = new WeakMap<TextQuery, Map<string, boolean>>()

function hasSimilar(query: Extract<TextQuery, { kind: 'fuzzy' }>, tokens: readonly string[]): boolean {
  const known = judged.get(query) ?? new Map<string, boolean>()
  judged.set(query, known)
  const first = query.token.charCodeAt(0)
  for (const token of tokens) {
    // Most words of a text begin with another letter; this is what makes a scan ten times faster.
    if (token.charCodeAt(0) !== first) continue
    let similar = known.get(token)
    if (similar === undefined) {
      similar = isSimilar(query.token, token, query.distance)
      if (known.size < 20_000) known.set(token, similar)
    }
    if (similar) return true
  }
  return false
}

/**
 * Whether at most `distance` letters were replaced, added, left out or swapped with their neighbour (Damerau–Levenshtein,
 * no letter edited twice). The first letter must be right: people rarely mistype it, and an index can start there.
 */
export function isSimilar(wanted: string, token: string, distance: number): boolean {
  if (wanted === token) return true
  // In UTF-16 one letter more is at most two units more.
  if (Math.abs(wanted.length - token.length) > 2 * distance) return false
  const a = [...wanted]
  const b = [...token]
  if (a[0] !== b[0] || Math.abs(a.length - b.length) > distance) return false
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    let best = row
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1)
      let cost = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
      best = Math.min(best, cost)
    }
    // A swap looks back two rows, so one row over the limit is not the end yet; two are.
    if (best > distance && Math.min(...last) > distance) return false
    beforeLast = last
    last = current
  }
  return at(last, b.length) <= distance
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
