/** What the patterns of one document or request may take together. */
import { mostWork } from '../expression-work.ts'

/** What is told of work, in the unit of `expression-work.ts`: before it is done as far as that can be said. It may throw. */
export interface PatternSpending {
  /** What each test takes. */
  each(work: number): void
  /** What is done for the first texts, and remembered while the pattern is: compiling it, and making its states. */
  first(work: number): void
}

/** Thrown by {@link patternBudget}. */
export class TooMuchToMatch extends Error {}

/** 40 ms. What is done once for a pattern does not count. */
export function patternBudget(): PatternSpending {
  let left = mostWork
  return {
    each(work) {
      left -= work
      if (left < 0) throw new TooMuchToMatch('The patterns of one document take too long.')
    },
    first: () => undefined,
  }
}
