/** Survivors that no scenario can see, or that nothing is promised of, each with the reason. */
import { readFileSync } from 'node:fs'
import { type Mutant, nameOf } from './mutant.ts'

export interface Accepted {
  readonly block: string
  readonly file: string
  readonly change: string
  readonly reason: string
}

export function acceptedSurvivors(): readonly Accepted[] {
  return JSON.parse(readFileSync(new URL('accepted-survivors.json', import.meta.url), 'utf8'))
}

/** Those that are listed and no mutant any more: the code has changed, or they were written wrong. */
export function gone(accepted: readonly Accepted[], mutants: readonly Mutant[]): string[] {
  const names = new Set(mutants.map(nameOf))
  return accepted.map(nameOf).filter((name) => !names.has(name))
}
