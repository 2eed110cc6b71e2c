/**
 * Which documents a free text in named fields finds, from the words in memory: a byte for each row, 1 where it finds it.
 * Exactly what `textMatches` says of the same words.
 */

import { wordsLike } from '../../../shared/names/similar-word.ts'
import { textMatches } from '../../search/match-text.ts'
import type { SearchEffort } from '../../search/search-effort.ts'
import type { TextPhrase, TextQuery } from '../../search/simple-query-string.ts'
import type { FieldColumn, FieldTexts } from './field-texts.ts'

type Marks = Uint8Array

/** What is looked at in the time of one unit of effort: tokens of a column, by the engine's own search; places of a phrase. */
const TOKENS_A_UNIT = 100
const PLACES_A_UNIT = 8
/** A walk that looks at each token takes so many times as long. */
const WALK = 6
/** The words that may stand at a place: one by its number, or several, a byte for each number. */
type Accepted = number | Uint8Array | undefined

export function textMarks(
  texts: FieldTexts,
  fields: readonly string[],
  query: TextQuery,
  effort?: SearchEffort,
): Marks {
  const { rows } = texts
  switch (query.kind) {
    case 'all':
      return new Uint8Array(rows).fill(1)
    case 'none':
      return new Uint8Array(rows)
    case 'and':
      return query.parts.map((part) => textMarks(texts, fields, part, effort)).reduce(both)
    case 'or':
      return query.parts.map((part) => textMarks(texts, fields, part, effort)).reduce(either)
    case 'not':
      return textMarks(texts, fields, query.part, effort).map((mark) => 1 - mark)
    case 'fuzzy':
      return wordMarks(
        texts,
        fields,
        wordsThat(texts, query.token, wordsLike(query.token, query.distance), effort),
        effort,
      )
    case 'phrase':
      return phraseMarks(texts, fields, query, effort)
  }
}

export function both(marks: Marks, others: Marks): Marks {
  for (let row = 0; row < marks.length; row++) marks[row] = (marks[row] ?? 0) & (others[row] ?? 0)
  return marks
}

function either(marks: Marks, others: Marks): Marks {
  for (let row = 0; row < marks.length; row++) marks[row] = (marks[row] ?? 0) | (others[row] ?? 0)
  return marks
}

function phraseMarks(
  texts: FieldTexts,
  fields: readonly string[],
  query: TextPhrase,
  effort: SearchEffort | undefined,
): Marks {
  const { tokens, prefix, slop } = query
  const last = tokens.length - 1
  const requested = tokens.map((token, at) =>
    prefix && at === last
      ? wordsThat(texts, token, (word) => word.startsWith(token), effort)
      : texts.numberOf(token),
  )
  const marks = requested.map((accepted) => wordMarks(texts, fields, accepted, effort)).reduce(both)
  if (last === 0) return marks
  // Where all of its words stand, they may still stand otherwise.
  for (let row = 0; row < marks.length; row++) {
    if (marks[row] === 0) continue
    const found =
      slop > 0
        ? textMatches(query, texts.tokensOf(row, fields), effort)
        : hasPhrase(texts, fields, row, requested, effort)
    if (!found) marks[row] = 0
  }
  return marks
}

/** `test` holds only for words with the same first letter as `token`. */
function wordsThat(
  texts: FieldTexts,
  token: string,
  test: (word: string) => boolean,
  effort: SearchEffort | undefined,
): Uint8Array {
  const numbers = texts.startingLike(token)
  effort?.spend(numbers.length)
  const accepted = new Uint8Array(texts.words.length)
  for (const number of numbers) if (test(texts.words[number] ?? '')) accepted[number] = 1
  return accepted
}

/** Where any of the words stands in any of the fields. */
function wordMarks(
  texts: FieldTexts,
  fields: readonly string[],
  accepted: Accepted,
  effort: SearchEffort | undefined,
): Marks {
  const marks = new Uint8Array(texts.rows)
  const few = typeof accepted === 'number' ? [accepted] : fewOf(accepted)
  for (const field of fields) {
    const column = texts.column(field)
    effort?.spend((column.size * (few?.length ?? WALK)) / TOKENS_A_UNIT)
    if (few === undefined) markAny(marks, column, accepted)
    else for (const word of few) markOne(marks, column, word)
  }
  return marks
}

/** As long as looking for one after the other is faster than looking at each once. */
const MOST_LOOKED_FOR = 4

function fewOf(accepted: Uint8Array | undefined): readonly number[] | undefined {
  const words: number[] = []
  for (let word = accepted?.indexOf(1) ?? -1; word >= 0; word = accepted?.indexOf(1, word + 1) ?? -1)
    if (words.push(word) > MOST_LOOKED_FOR) return undefined
  return words
}

/** The engine's own search reads ten times faster than a walk; behind a hit it goes on with the next row. */
function markOne(marks: Marks, column: FieldColumn, word: number): void {
  const { starts, lengths } = column
  const tokens = column.tokens.subarray(0, column.size)
  for (let at = tokens.indexOf(word); at >= 0; ) {
    let head = at
    while ((tokens[head] ?? -1) >= 0) head--
    const row = -(tokens[head] ?? 0)
    marks[row] = 1
    at = tokens.indexOf(word, Math.max(at + 1, (starts[row] ?? 0) + (lengths[row] ?? 0)))
  }
}

function markAny(marks: Marks, { tokens, size }: FieldColumn, accepted: Accepted): void {
  if (typeof accepted !== 'object') return
  let row = 0
  for (let at = 0; at < size; at++) {
    const token = tokens[at] ?? 0
    if (token < 0) row = -token
    else if (accepted[token] === 1) marks[row] = 1
  }
}

/** No word accepts the break between two values, so no phrase runs across one; and none from one field into the next. */
function hasPhrase(
  texts: FieldTexts,
  fields: readonly string[],
  row: number,
  requested: readonly Accepted[],
  effort: SearchEffort | undefined,
): boolean {
  for (const field of fields) {
    const { starts, lengths, tokens } = texts.column(field)
    const start = starts[row] ?? 0
    effort?.spend(((lengths[row] ?? 0) * requested.length) / PLACES_A_UNIT)
    for (let at = start; at + requested.length <= start + (lengths[row] ?? 0); at++) {
      let length = 0
      while (length < requested.length && accepts(requested[length], tokens[at + length] ?? 0)) length++
      if (length === requested.length) return true
    }
  }
  return false
}

function accepts(accepted: Accepted, word: number): boolean {
  return typeof accepted === 'number' ? accepted === word : accepted?.[word] === 1
}
