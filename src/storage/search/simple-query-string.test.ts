import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { someQueryText } from '../../../test/arbitrary-documents.ts'
import { parseSimpleQueryString, type TextQuery } from './simple-query-string.ts'

/** The parsed query on one line, with every group in parentheses. */
function shown(query: TextQuery): string {
  switch (query.kind) {
    case 'and':
    case 'or':
      return `(${query.parts.map(shown).join(query.kind === 'and' ? ' & ' : ' | ')})`
    case 'not':
      return `-${shown(query.part)}`
    case 'fuzzy':
      return `${query.token}~${query.distance}`
    case 'phrase': {
      const text = query.tokens.join('_')
      return `${text}${query.prefix ? '*' : ''}${query.slop > 0 ? `~~${query.slop}` : ''}`
    }
    default:
      return query.kind.toUpperCase()
  }
}

describe('what it means', () => {
  test.each([
    ['red apple', '(red & apple)'],
    ['red + apple', '(red & apple)'],
    ['red+apple', '(red & apple)'],
    ['red | apple', '(red | apple)'],
    ['red apple | pear', '((red & apple) | pear)'],
    ['red | apple pear', '((red | apple) & pear)'],
    ['red (apple | pear)', '(red & (apple | pear))'],
    ['red -apple', '(red & -apple)'],
    ['red - apple', '(red & apple)'],
    ['-red', '-red'],
    ['--red', 'red'],
    ['red -(apple pear)', '(red & -(apple & pear))'],
    ['"red apple"', 'red_apple'],
    ['"red apple"~3', 'red_apple~~3'],
    ['"red"~3', 'red'],
    ['-"red apple"', '-red_apple'],
    ['app*', 'app*'],
    ['e-mail', 'e_mail'],
    ['e-ma*', 'e_ma*'],
    ['東京', '東_京'],
    ['*', 'ALL'],
    ['red *', '(red & ALL)'],
    ['appel~1', 'appel~1'],
    ['appel~', 'appel~2'],
    ['appel~9', 'appel~2'],
    ['appel~0', 'appel'],
    ['appel~1 red', '(appel~1 & red)'],
    ['e-mail~1', 'e_mail'],
    ['a~b', 'a_b'],
    ['app*~1', 'app*'],
    ['\\-red', 'red'],
    ['app\\*', 'app'],
    ['Émile', 'emile'],
  ])('%s', (text, meaning) => {
    expect(shown(parseSimpleQueryString(text))).toBe(meaning)
  })
})

describe('what makes no sense is not there', () => {
  test.each([
    ['', 'NONE'],
    ['   ', 'NONE'],
    ['!!! --- +|', 'NONE'],
    ['()', 'NONE'],
    ['"', 'NONE'],
    ['""', 'NONE'],
    ['~2', 'NONE'],
    ['\\', 'NONE'],
    ['red +', 'red'],
    ['| red', 'red'],
    ['red | | pear', '(red | pear)'],
    ['red ! pear', '(red & pear)'],
    ['red -', 'red'],
    ['red -!!', 'red'],
    ['(red', 'red'],
    ['red) pear', '(red & pear)'],
    ['"red pear', '(red & pear)'],
    ['red "pear', '(red & pear)'],
    ['red () pear', '(red & pear)'],
  ])('%s', (text, meaning) => {
    expect(shown(parseSimpleQueryString(text))).toBe(meaning)
  })
})

function sizeOf(query: TextQuery): { leaves: number; depth: number } {
  const parts =
    query.kind === 'and' || query.kind === 'or' ? query.parts : query.kind === 'not' ? [query.part] : []
  const sizes = parts.map(sizeOf)
  return {
    leaves: parts.length === 0 ? 1 : sizes.reduce((sum, size) => sum + size.leaves, 0),
    depth: 1 + Math.max(0, ...sizes.map((size) => size.depth)),
  }
}

describe('bounds', () => {
  test.each([
    ['words', 'x '.repeat(1_900)],
    ['alternating operators', 'x y | '.repeat(600)],
    ['stars', '* '.repeat(1_900)],
    ['alternating stars', '* | x '.repeat(600)],
    ['parentheses', `${'('.repeat(2_000)}x${')'.repeat(1_000)}`],
    ['negated parentheses', `${'-('.repeat(1_500)}x`],
    ['length', 'x'.repeat(1_000_000)],
    ['a phrase', `"${'x '.repeat(100_000)}"`],
  ])('%s', (_, text) => {
    const { leaves, depth } = sizeOf(parseSimpleQueryString(text))
    expect(leaves).toBeLessThanOrEqual(64)
    // Ten groups, each negated, and sixteen changes of the operator.
    expect(depth).toBeLessThanOrEqual(50)
  })

  test('never throws', () => {
    const character = fc.constantFrom(...'ab"()+-|*~2 \\é東')
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: character }), fc.string({ unit: 'binary' }), someQueryText),
        (text) => {
          expect(shown(parseSimpleQueryString(text))).not.toBe('')
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
