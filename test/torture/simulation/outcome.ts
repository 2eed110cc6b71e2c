/** What one interleaving came to. */
import { createHash } from 'node:crypto'

export interface Outcome {
  /** Invariants that did not hold, in words. */
  readonly broken: readonly string[]
  /** Of all that happened and when: the same for the same seed. */
  readonly digest: string
  readonly steps: number
  /** How many things were held against an invariant. */
  readonly checked: number
}

export interface Diary {
  note(line: string): void
  /** Notes what is broken, if it is. */
  check(holds: boolean, otherwise: string): void
  outcome(steps: number): Outcome
}

export function openDiary(clock: () => number): Diary {
  const hash = createHash('sha256')
  const broken: string[] = []
  let checked = 0
  return {
    note: (line) => void hash.update(`${clock()} ${line}\n`),
    check(holds, otherwise) {
      checked += 1
      if (!holds) broken.push(otherwise)
    },
    outcome: (steps) => ({ broken, digest: hash.digest('hex'), steps, checked }),
  }
}
