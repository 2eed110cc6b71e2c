import { lruCache } from '../../shared/lru-cache.ts'
import { type WordMatcher, wordsLike } from '../../shared/names/similar-word.ts'
import type { SearchEffort } from './search-effort.ts'
import { parseSimpleQueryString, type TextPhrase, type TextQuery } from './simple-query-string.ts'
import { VALUE_BREAK } from './text-tokens.ts'

const memo = lruCache<string, TextQuery>(500)

/** The parsed text. Remembered, because a scan asks for the same text once a document. */
export function textQuery(text: string): TextQuery {
  const known = memo.get(text)
  if (known) return known
  const query = parseSimpleQueryString(text)
  memo.set(text, query)
  return query
}

/** Whether a document with these tokens satisfies the query. Throws EffortSpent. */
export function textMatches(query: TextQuery, tokens: readonly string[], effort?: SearchEffort): boolean {
  switch (query.kind) {
    case 'all':
      return true
    case 'none':
      return false
    case 'and':
      return query.parts.every((part) => textMatches(part, tokens, effort))
    case 'or':
      return query.parts.some((part) => textMatches(part, tokens, effort))
    case 'not':
      return !textMatches(query.part, tokens, effort)
    case 'fuzzy':
      effort?.spend(tokens.length)
      return hasSimilar(query, tokens)
    case 'phrase':
      effort?.spend(tokens.length * query.tokens.length)
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
      const requested = phrase.tokens[length] ?? ''
      const token = tokens[start + length] ?? ''
      if (token !== requested && !(phrase.prefix && length === last && token.startsWith(requested))) break
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

/** What is known of a misspelled word: a scan meets the same few thousand words again and again. */
interface Judged {
  readonly isLike: WordMatcher
  readonly tokens: Map<string, boolean>
}

const judged = new WeakMap<TextQuery, Judged>()
const MOST_JUDGED = 20_000

function hasSimilar(query: Extract<TextQuery, { kind: 'fuzzy' }>, tokens: readonly string[]): boolean {
  let known = judged.get(query)
  if (known === undefined) {
    known = { isLike: wordsLike(query.token, query.distance), tokens: new Map() }
    judged.set(query, known)
  }
  const first = query.token.charCodeAt(0)
  for (const token of tokens) {
    // Most words of a text begin with another letter; this is what makes a scan ten times faster.
    if (token.charCodeAt(0) !== first) continue
    let similar = known.tokens.get(token)
    if (similar === undefined) {
      similar = known.isLike(token)
      if (known.tokens.size < MOST_JUDGED) known.tokens.set(token, similar)
    }
    if (similar) return true
  }
  return false
}
