import { describe, expect, test } from 'vitest'
import { compiledPattern, MAX_PATTERNED_TEXT, patternProblem } from './text-pattern.ts'

describe('a pattern', () => {
  test.each([
    ['(?=a)', 'Perl syntax'],
    ['(a)\\1', 'escape'],
    ['[', 'missing closing'],
    ['a{1000}', 'too large'],
    ['((a|b){30}){30}', 'too large'],
    ['((a{100}){100}){100}', 'repeat'],
    ['a'.repeat(501), 'longer than 500'],
  ])('%s is refused', (pattern, reason) => {
    expect(patternProblem(pattern)).toContain(reason)
  })

  test.each([
    ['^[a-z]+@[a-z]+$', 'ann@example', true],
    ['^[a-z]+$', 'Ann', false],
    ['nn', 'Ann', true],
    ['^\\d{4} ?[A-Z]{2}$', '1234 AB', true],
    ['^\\pL+$', 'Zoë', true],
  ])('%s on %s: %s', (pattern, text, fits) => {
    expect(patternProblem(pattern)).toBeUndefined()
    expect(compiledPattern(pattern).test(text)).toBe(fits)
  })

  test('what makes a backtracking engine hang is answered', () => {
    const text = `${'x'.repeat(MAX_PATTERNED_TEXT - 1)}!`
    for (const pattern of ['^(x+x+)+y$', '^(x|x)*$', '(.*)*(.*)*(.*)*y'])
      expect(compiledPattern(pattern).test(text)).toBe(false)
  })

  test('stays right when more than are kept are used', () => {
    for (let i = 0; i < 1_200; i++) expect(compiledPattern(`^a${i}$`).test(`a${i}`)).toBe(true)
    expect(compiledPattern('^a0$').test('a0')).toBe(true)
  })
})
