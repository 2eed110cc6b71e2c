/**
 * The simple-query-string grammar of Elasticsearch, so that what people type there works here:
 *
 *     word        the word                 "two words"     the phrase
 *     word*       words that start so      "two words"~3   these words at most 3 further apart, in any order
 *     word~1      spelled with 1 mistake   -word           not this
 *     a + b, a b  both                     a | b           one of them
 *     ( )         grouping                 \               takes the next character as it is
 *
 * As there, operators have no precedence: `a b | c` reads from left to right as `(a b) | c`. Unlike there, two words side
 * by side are both required: a visitor who types another word into a search box expects fewer results, not more.
 *
 * It never fails: whatever makes no sense is read as if it were not there, since visitors type it.
 */
import { textTokens } from './text-tokens.ts'

export type TextQuery =
  | { readonly kind: 'all' }
  /** There is no word in the text: no document. */
  | { readonly kind: 'none' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly TextQuery[] }
  | { readonly kind: 'not'; readonly part: TextQuery }
  | TextPhrase
  /** One word with up to `distance` (1 or 2) letters wrong, left out, added or swapped, but not the first letter. */
  | { readonly kind: 'fuzzy'; readonly token: string; readonly distance: number }

/** One word or several side by side. */
export interface TextPhrase {
  readonly kind: 'phrase'
  readonly tokens: readonly string[]
  /** The last token may go on. Never together with slop. */
  readonly prefix: boolean
  /** How many tokens more than its own a window may have that holds all of them in any order; 0 = exactly in order. */
  readonly slop: number
}

const MAX_LENGTH = 4_000
/** Words and phrases of one text; Elasticsearch allows 1,024, but no user types more than these. */
const MAX_CLAUSES = 64
/** Parentheses inside parentheses, and changes between "and" and "or": each nests, and FTS5's parser stops at 100. */
const MAX_DEPTH = 10
const MAX_CHANGES = 16
const MAX_SLOP = 100
const MAX_DISTANCE = 2

interface Reader {
  readonly text: string
  at: number
  clauses: number
  depth: number
  changes: number
}

export function parseSimpleQueryString(text: string): TextQuery {
  const reader: Reader = { text: text.slice(0, MAX_LENGTH), at: 0, clauses: 0, depth: 0, changes: 0 }
  return readGroup(reader) ?? { kind: 'none' }
}

/** Reads up to the closing parenthesis of this group, or to the end. */
function readGroup(reader: Reader): TextQuery | undefined {
  let result: TextQuery | undefined
  let operator: 'and' | 'or' = 'and'
  let negated = false
  const add = (part: TextQuery | undefined): void => {
    if (part) {
      const signed: TextQuery = negated ? { kind: 'not', part } : part
      result = result ? combine(reader, operator, result, signed) : signed
      operator = 'and'
    }
    negated = false
  }
  while (reader.at < reader.text.length && reader.clauses < MAX_CLAUSES) {
    const character = reader.text[reader.at] ?? ''
    if (character === ')') {
      reader.at += 1
      if (reader.depth > 0) return result
    } else if (character === '(') {
      reader.at += 1
      if (reader.depth >= MAX_DEPTH) continue
      reader.depth += 1
      const group = readGroup(reader)
      reader.depth -= 1
      add(group)
    } else if (character === '"') {
      reader.at += 1
      add(readQuoted(reader))
    } else if (character === '+' || character === '|') {
      reader.at += 1
      operator = character === '+' ? 'and' : 'or'
    } else if (character === '-') {
      reader.at += 1
      negated = !negated
    } else if (isSpace(character)) {
      reader.at += 1
      // A dash that stands alone is punctuation, as in "tables - chairs".
      negated = false
    } else {
      add(readWord(reader))
    }
  }
  return result
}

function combine(reader: Reader, kind: 'and' | 'or', left: TextQuery, right: TextQuery): TextQuery {
  if (left.kind !== 'and' && left.kind !== 'or') return { kind, parts: [left, right] }
  if (left.kind === kind || reader.changes >= MAX_CHANGES)
    return { kind: left.kind, parts: [...left.parts, right] }
  reader.changes += 1
  return { kind, parts: [left, right] }
}

/** A quote that is never closed is skipped: what follows it is read as words. */
function readQuoted(reader: Reader): TextQuery | undefined {
  const end = reader.text.indexOf('"', reader.at)
  if (end < 0) return undefined
  const inside = reader.text.slice(reader.at, end)
  reader.at = end + 1
  const slop = Math.min(readTilde(reader) ?? 0, MAX_SLOP)
  return phrase(reader, inside, false, slop)
}

function readWord(reader: Reader): TextQuery | undefined {
  let word = ''
  let escapedEnd = false
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at] ?? ''
    if (character === '\\' && reader.at + 1 < reader.text.length) {
      reader.at += 1
      word += reader.text[reader.at]
      escapedEnd = true
    } else {
      if (isSpace(character) || '"+|()'.includes(character)) break
      if (character === '~' && isTilde(reader.text, reader.at)) break
      word += character
      escapedEnd = false
    }
  }
  const mistakes = readTilde(reader, MAX_DISTANCE)
  const starred = word.endsWith('*') && !escapedEnd
  if (starred && word === '*') {
    reader.clauses += 1
    return { kind: 'all' }
  }
  const found = phrase(reader, word, starred, 0)
  const token = found?.tokens[0]
  if (found?.tokens.length !== 1 || token === undefined || starred || !mistakes) return found
  return { kind: 'fuzzy', token, distance: Math.min(mistakes, MAX_DISTANCE) }
}

/** Whether the tilde here ends a word: it is followed by digits or nothing, then by what ends words. */
function isTilde(text: string, at: number): boolean {
  let end = at + 1
  while (end < text.length && isDigit(text[end])) end++
  return end === text.length || isSpace(text[end] ?? '') || '"+|()'.includes(text[end] ?? '')
}

/** The number behind a tilde, `bare` for a tilde without one, undefined without a tilde. */
function readTilde(reader: Reader, bare = 0): number | undefined {
  if (reader.text[reader.at] !== '~') return undefined
  const start = ++reader.at
  while (isDigit(reader.text[reader.at])) reader.at += 1
  return reader.at === start ? bare : Number(reader.text.slice(start, reader.at))
}

/** A word may be several tokens ("e-mail", or Chinese): then they stand side by side. */
function phrase(reader: Reader, text: string, prefix: boolean, slop: number): TextPhrase | undefined {
  const tokens = textTokens(text)
  if (tokens.length === 0) return undefined
  reader.clauses += 1
  return { kind: 'phrase', tokens, prefix, slop: tokens.length > 1 ? slop : 0 }
}

function isSpace(character: string): boolean {
  return /\s/.test(character)
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}
