import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import type { Report } from './worker.ts'

export interface Outcome {
  readonly mutant: Mutant
  readonly killed: boolean
  /** What the scenario said; empty for a survivor. */
  readonly why: string
}

/** Most milliseconds for one mutant: one that goes round for ever is seen, and its process ended. */
const LONGEST = 60_000

/** Tries all of them in a process of its own, and goes on in another one where one has ended it. */
export async function runMutants(
  mutants: readonly Mutant[],
  options: readonly string[],
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  let next = 0
  while (next < mutants.length) next = await runFrom(next, mutants, options, onOutcome)
}

/** Gives the number of the first mutant that was not tried. Throws what a scenario says of the program as it is. */
async function runFrom(
  from: number,
  mutants: readonly Mutant[],
  options: readonly string[],
  onOutcome: (outcome: Outcome) => void,
): Promise<number> {
  const child = fork(join(import.meta.dirname, 'worker.ts'), [...options, `--from=${from}`], {
    execArgv: ['--import', join(import.meta.dirname, '../../bin/compile-cache.mjs')],
  })
  let current: number | undefined
  let next = from
  let broken: string | undefined
  let timer: NodeJS.Timeout | undefined
  const end = (killed: boolean, why: string) => {
    const mutant = current === undefined ? undefined : mutants[current]
    if (mutant !== undefined) onOutcome({ mutant, killed, why })
    current = undefined
  }
  child.on('message', (reported: Report) => {
    clearTimeout(timer)
    if ('broken' in reported) broken = reported.broken
    else if ('begins' in reported) {
      current = reported.begins
      next = current + 1
      timer = setTimeout(() => child.kill('SIGKILL'), LONGEST)
    } else end(reported.killed, reported.why)
  })
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  if (broken !== undefined) throw new Error(broken)
  if (code === 0) return mutants.length
  if (current === undefined) throw new Error(`The process that tries mutants ended with ${code ?? signal}.`)
  end(true, `It ended the process: ${code ?? signal}.`)
  return next
}
