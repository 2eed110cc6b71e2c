/**
 * Regular expressions that people type, on an engine whose time grows with the text and not with the cleverness of the
 * pattern (RE2): a pattern can make nothing hang. What it costs is the size of the compiled pattern times the length of
 * the text, so their product is bounded: the slowest pattern allowed takes some 40 ms on the longest text.
 *
 * Most take a thousandth of it, because the engine remembers which parts of a pattern can be reached together, as states, and
 * looks up each further character. A pattern that has more of them than are remembered is hard: only then its size counts.
 *
 * RE2 has no backreferences and no look-around; such a pattern is refused when it is saved.
 */

import { RE2JS, RE2Set } from 're2js'
import { lruCache } from '../lru-cache.ts'
import { type PatternSpending, TooMuchToMatch } from './pattern-budget.ts'

export interface TextPattern {
  /** Characters of the longest text that it is tested on. */
  readonly longest: number
  /** The text has at most `longest` characters. */
  test(text: string, spend: PatternSpending): boolean
}

const MAX_PATTERN = 500
/** Instructions of the compiled pattern; `a{300}` has some 300. */
const MAX_PROGRAM = 500
/** Longer text is not searched for a pattern. */
export const MAX_PATTERNED_TEXT = 4_000
/** Instructions times characters: of 500 instructions 1,200 characters, and 4,000 up to 150 instructions. */
const MOST_TRIED = 600_000

/** Work of an instruction at a character when a hard pattern is tested: 0.04 to 0.07 µs. */
const TRIED = 0.65
/** Of a character that is looked up in a state. */
const LOOKED_UP = 0.5
/** Of an instruction of a state that is made: a state of 500 takes 0.24 ms. */
const MADE = 5
/** Of a character of a pattern that is compiled: `\pL` 120 times takes 10 ms. */
const COMPILED = 250

/** Bytes of the states of one pattern: some 120 of a large pattern, 50 of one with `\pL`, thousands of most. */
const STATES = 512 * 1024
const MAX_CACHED = 1_000
/** Bytes of all of them. Then all are compiled again. */
const MOST_BYTES = 64 * 1024 * 1024
const cache = lruCache<string, TextPattern>(MAX_CACHED)
let bytes = 0

/** What is wrong with a pattern, in words that finish "the pattern …", or undefined. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `is longer than ${MAX_PATTERN} characters`
  try {
    const size = RE2JS.compile(pattern).programSize()
    return size > MAX_PROGRAM ? 'is too large: use smaller repeat counts' : undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : ''
    return `cannot be used: ${reason}`
  }
}

/** A pattern in which {@link patternProblem} found nothing. Compiled once, while it is among those that are kept. */
function compiledPattern(pattern: string): TextPattern {
  const known = cache.get(pattern)
  if (known) return known
  const compiled = compile(pattern)
  cache.set(pattern, compiled)
  return compiled
}

/** What is wrong with a text by a pattern in which nothing is wrong, in words that finish "<field> …", or undefined. */
export function patternMisfit(pattern: string, text: string, spend: PatternSpending): string | undefined {
  const { longest, test } = compiledPattern(pattern)
  if (text.length > longest) return `must have at most ${longest} characters, because it has a pattern`
  try {
    return test(text, spend) ? undefined : `must fit the pattern ${pattern}`
  } catch (error) {
    if (!(error instanceof TooMuchToMatch)) throw error
    return 'is too long to be held against its pattern beside the others: use shorter texts'
  }
}

/** The pattern, checked once, or what is wrong with it: for one that comes with each use and not when a flow is saved. */
export function readPattern(
  pattern: string,
  spend: PatternSpending,
): TextPattern | { readonly problem: string } {
  const known = cache.get(pattern)
  if (known) return known
  spend.first(Math.min(pattern.length, MAX_PATTERN) * COMPILED)
  const problem = patternProblem(pattern)
  return problem === undefined ? compiledPattern(pattern) : { problem }
}

/** As a set of one: only of sets can be said how much is remembered. */
function compile(pattern: string): TextPattern {
  const size = RE2JS.compile(pattern).programSize()
  const set = new RE2Set(RE2Set.UNANCHORED, 0, STATES)
  set.add(pattern)
  set.compile()
  const states = set.dfa
  hold(size * (PER_INSTRUCTION + PER_RANGE * states.numClasses))
  let isHard = false
  return {
    longest: Math.min(MAX_PATTERNED_TEXT, Math.floor(MOST_TRIED / size)),
    test(text, spend) {
      const hardWork = text.length * size * TRIED
      spend.each(isHard ? hardWork : text.length * LOOKED_UP)
      const [before, room] = [states.stateCount, states.memBudget]
      const fits = set.match(text).length > 0
      if (isHard) return fits
      hold(room - states.memBudget)
      // States were forgotten, the first one with them, to make room for others.
      isHard = states.startStates.size === 0
      if (isHard) spend.each(hardWork)
      else spend.first((states.stateCount - before) * size * MADE)
      return fits
    },
  }
}

/** Bytes of a compiled pattern, by its instructions and by the ranges of characters that it tells apart. */
const PER_INSTRUCTION = 100
const PER_RANGE = 4

function hold(more: number): void {
  bytes += Math.max(0, more)
  if (bytes <= MOST_BYTES) return
  cache.clear()
  bytes = 0
}
