import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wordsLike } from '../../shared/names/similar-word.ts'
import { phraseCount, textMatches, textQuery } from './match-text.ts'
import { documentTokens } from './text-tokens.ts'

describe('textMatches', () => {
  const document = { title: 'The quick brown fox', notes: ['jumps over', 'the lazy dog'], city: '東京都' }
  test.each([
    ['cat', false],
    ['fox', true],
    ['fox dog', true],
    ['fox cat', false],
    ['fox | cat', true],
    ['fox -cat', true],
    ['fox -dog', false],
    ['-cat', true],
    ['-fox', false],
    ['*', true],
    ['!', false],
    ['bro*', true],
    ['rown*', false],
    ['"quick brown"', true],
    ['"brown quick"', false],
    ['"quick bro*"', false],
    ['"fox jumps"', false],
    ['"over the"', false],
    ['東京', true],
    ['京東', false],
    ['"fox quick"~1', true],
    ['"fox the"~1', false],
    ['"fox the"~2', true],
    ['"fox jumps"~5', false],
    ['brwon~1', true],
    ['brwon', false],
    ['prown~2', false],
    ['brn~1', false],
    ['brn~2', true],
  ])('%s: %s', (text, expected) => {
    expect(textMatches(textQuery(text), documentTokens(document))).toBe(expected)
  })
})

test.each([
  [['a'], false, 3],
  [['a', 'a'], false, 1],
  [['a', 'ab'], false, 1],
  [['a'], true, 4],
  [['a', 'a'], true, 2],
  [['b'], true, 0],
])('phraseCount of %j, prefix %s', (tokens, prefix, count) => {
  expect(phraseCount({ tokens, prefix }, ['a', 'a', 'ab', 'c', 'a'])).toBe(count)
})

/** The textbook's recursion. */
function distance(a: readonly string[], b: readonly string[]): number {
  const [x, ...restA] = a
  const [y, ...restB] = b
  if (x === undefined || y === undefined) return a.length + b.length
  const least = Math.min(
    distance(restA, restB) + (x === y ? 0 : 1),
    distance(restA, b) + 1,
    distance(a, restB) + 1,
  )
  const swapped = a.length > 1 && b.length > 1 && x === b[1] && y === a[1]
  return swapped ? Math.min(least, distance(a.slice(2), b.slice(2)) + 1) : least
}

test('words like another are at most the Damerau–Levenshtein distance away, behind a right first letter', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(word, word, fc.integer({ min: 1, max: 2 }), (requested, token, most) => {
      const a = [...requested]
      const b = [...token]
      expect(wordsLike(requested, most)(token)).toBe(a[0] === b[0] && distance(a, b) <= most)
    }),
    { numRuns: 1_000 },
  )
})
