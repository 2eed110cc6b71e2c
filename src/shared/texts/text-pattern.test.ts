import { describe, expect, test } from 'vitest'
import { hardPattern, lettersInDisorder } from '../../../test/hard-pattern.ts'
import { mostWork } from '../expression-work.ts'
import { type PatternSpending, patternBudget, TooMuchToMatch } from './pattern-budget.ts'
import { MAX_PATTERNED_TEXT, patternMisfit, patternProblem, readPattern } from './text-pattern.ts'

const fits = (pattern: string, text: string) => patternMisfit(pattern, text, patternBudget()) === undefined

/** What a test takes. */
function spentOn(pattern: string, text: string): { readonly each: number; readonly first: number } {
  const spent = { each: 0, first: 0 }
  const spend: PatternSpending = {
    each: (work) => {
      spent.each += work
    },
    first: (work) => {
      spent.first += work
    },
  }
  const read = readPattern(pattern, spend)
  if ('problem' in read) throw new Error(read.problem)
  read.test(text, spend)
  return spent
}

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
    expect(readPattern(pattern, patternBudget())).toEqual({ problem: expect.stringContaining(reason) })
  })

  test.each([
    ['^[a-z]+@[a-z]+$', 'ann@example', true],
    ['^[a-z]+$', 'Ann', false],
    ['nn', 'Ann', true],
    ['^\\d{4} ?[A-Z]{2}$', '1234 AB', true],
    ['^\\d{4} ?[A-Z]{2}$', '1234 AB ', false],
    ['^\\pL+$', 'Zoë', true],
    ['', '', true],
    ['\\bred\\b', 'a red car', true],
    ['\\bred\\b', 'a hundred cars', false],
    ['(?i)^straße$', 'STRAßE', true],
    ['^a$', 'b\na\nb', false],
    ['(?m)^a$', 'b\na\nb', true],
  ])('%s on %s: %s', (pattern, text, isFound) => {
    expect(patternProblem(pattern)).toBeUndefined()
    expect(fits(pattern, text)).toBe(isFound)
  })

  test('what makes a backtracking engine hang is answered', () => {
    const text = `${'x'.repeat(MAX_PATTERNED_TEXT - 1)}!`
    for (const pattern of ['^(x+x+)+y$', '^(x|x)*$', '(.*)*(.*)*(.*)*y'])
      expect(fits(pattern, text)).toBe(false)
  })

  test('stays right when more than are kept are used', () => {
    for (let i = 0; i < 1_200; i++) expect(fits(`^a${i}$`, `a${i}`)).toBe(true)
    expect(fits('^a0$', 'a0')).toBe(true)
  })

  test('stays right when more memory is used than is kept: each of these takes over 1 MB', () => {
    const large = (i: number) => `^${'\\pL'.repeat(120)}${i}$`
    for (let i = 0; i < 60; i++) expect(fits(large(i), `${'é'.repeat(120)}${i}`)).toBe(true)
    expect(fits(large(0), `${'é'.repeat(120)}1`)).toBe(false)
  })

  test.each([
    ['^[a-z]+$', 4_000],
    [hardPattern(140), 4_000],
    [hardPattern(400), 1_400],
    ['^a{490}$', 1_200],
  ])('%s is tested on texts up to a length that its size leaves', (pattern, about) => {
    const read = readPattern(pattern, patternBudget())
    const longest = 'problem' in read ? 0 : read.longest
    expect(longest).toBeGreaterThanOrEqual(about)
    expect(longest).toBeLessThan(about + 100)
    expect(patternMisfit(pattern, 'a'.repeat(longest + 1), patternBudget())).toBe(
      `must have at most ${longest} characters, because it has a pattern`,
    )
  })
})

describe('what a test takes', () => {
  test('of a pattern with few states, a little for each character, and nothing new for the next text', () => {
    const pattern = '(?i)\\b(casino|lottery|poker|bitcoin|credit|winner|prize)\\b'
    spentOn(pattern, '')
    expect(spentOn(pattern, `${'some words '.repeat(300)}casino`).first).toBeGreaterThan(1_000)
    const next = spentOn(pattern, `${'some words '.repeat(300)}casino`)
    expect(next.first).toBe(0)
    expect(next.each).toBeLessThan(mostWork / 200)
  })

  test('of one with more states than are remembered, by its size, for each text', () => {
    const first = spentOn(hardPattern(120), lettersInDisorder(4_000))
    const next = spentOn(hardPattern(120), lettersInDisorder(4_000))
    expect(first.each).toBeGreaterThan(mostWork / 2)
    expect(next.each).toBeGreaterThan(mostWork / 2)
    expect(next.each).toBeLessThanOrEqual(mostWork)
    // A short text of it costs no more than others.
    expect(spentOn(hardPattern(120), 'ab').each).toBeLessThan(mostWork / 1_000)
  })

  test('compiling a pattern once, by its length', () => {
    expect(spentOn(`^x{7}${'y'.repeat(100)}`, '').first).toBeGreaterThan(10_000)
    expect(spentOn(`^x{7}${'y'.repeat(100)}`, '').first).toBe(0)
  })

  test('a budget ends the test of a text before it begins, and others have budgets of their own', () => {
    const text = lettersInDisorder(4_000)
    const budget = patternBudget()
    spentOn(hardPattern(130), text)
    patternMisfit(hardPattern(130), text, budget)
    expect(patternMisfit(hardPattern(130), text, budget)).toContain(
      'is too long to be held against its pattern',
    )
    expect(String(patternMisfit(hardPattern(130), text, patternBudget()))).not.toContain('too long')
    expect(() => budget.each(1)).toThrow(TooMuchToMatch)
  })
})
