/** What solves the proof of work in browsers, for tests of servers. It is JavaScript without declarations. */
import { join } from 'node:path'

interface Solver {
  /** The first 32 bits of the SHA-256 of a text. */
  firstBits(text: string): number
  solve(challenge: string): string
}

const browser = join(import.meta.dirname, '../src/pages/browser')
export const { firstBits, solve }: Solver = await import(join(browser, 'proof-solver.js'))
