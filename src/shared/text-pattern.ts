/**
 * Regular expressions that people type, on an engine whose time grows with the text and not with the cleverness of the
 * pattern (RE2): a pattern can make nothing hang. What it costs is the size of the compiled pattern times the length of
 * the text, so both are bounded: the slowest pattern allowed takes some 50 ms on the longest text.
 *
 * RE2 has no backreferences and no look-around; such a pattern is refused when it is saved.
 */

import { RE2JS } from 're2js'
import { boundedMap } from './bounded-map.ts'

export interface TextPattern {
  test(text: string): boolean
}

const MAX_PATTERN = 500
/** Instructions of the compiled pattern; `a{300}` has some 300. */
const MAX_PROGRAM = 500
/** Longer text is not searched for a pattern. */
export const MAX_PATTERNED_TEXT = 4_000

const MAX_KEPT = 1_000
const kept = boundedMap<string, TextPattern>(MAX_KEPT)

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

/** A pattern in which {@link patternProblem} found nothing. Compiled once, while it is among the last 1,000. */
export function compiledPattern(pattern: string): TextPattern {
  const known = kept.get(pattern)
  if (known) return known
  const compiled = RE2JS.compile(pattern)
  kept.set(pattern, compiled)
  return compiled
}

/** The pattern, checked once, or what is wrong with it: for one that comes with each use and not when a flow is saved. */
export function readPattern(pattern: string): TextPattern | { readonly problem: string } {
  const known = kept.get(pattern)
  if (known) return known
  const problem = patternProblem(pattern)
  return problem === undefined ? compiledPattern(pattern) : { problem }
}

/** Whether it need not be read again. */
export function isKeptPattern(pattern: string): boolean {
  return kept.has(pattern)
}
