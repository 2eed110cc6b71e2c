/** What a part of `npm run torture` is: the default export of a file in `parts/`, where the runner finds it. */
import type { RandomSource } from './random-source.ts'

export interface TorturePart {
  /** The name of its file. */
  readonly name: string
  /** One sentence for the table. */
  readonly summary: string
  run(context: TortureContext): Promise<TortureResult>
  /** The same check against something broken on purpose: it must find failures. */
  control?(context: TortureContext): Promise<TortureResult>
}

export interface TortureContext {
  readonly seed: number
  /** How long the part should go on. What it has started it may finish. */
  readonly seconds: number
  /** A sample of everything instead of much of it. */
  readonly short: boolean
  /** Write the page of docs/ that a part makes from what it saw, if it has one and nothing was wrong. */
  readonly pages: boolean
  /** Aborted when the run is interrupted, or the part takes far too long. */
  readonly signal: AbortSignal
  /** Made from the seed and the name of the part: the same in each run with that seed. */
  readonly random: RandomSource
  /** Progress, one line at a time. */
  tell(line: string): void
}

export interface TortureResult {
  /** How many things were checked. A part that checked nothing fails. */
  readonly checked: number
  readonly failures: readonly string[]
  readonly figures: Readonly<Record<string, number | string>>
}
