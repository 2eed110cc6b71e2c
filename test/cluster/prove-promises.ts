/** The long form of the proof of the cluster: a storm with every fault once in each round, in random order. */
import { type FaultKind, faultKinds } from './faults.ts'
import { type StormFigures, storm } from './storm.ts'
import { violations } from './violations.ts'

export interface Proof {
  readonly rounds: number
  readonly schedules: number
  readonly shuffled: (kinds: readonly FaultKind[]) => readonly FaultKind[]
  readonly tell: (line: string) => void
  /** The control: clients that count a note as stored when they send it. */
  readonly early?: boolean
  readonly signal?: AbortSignal
}

export interface Proven {
  readonly figures: StormFigures
  /** Promises that were broken, in words. */
  readonly broken: readonly string[]
}

const LEAST_TICKS = 10_000

export async function provePromises(proof: Proof): Promise<Proven> {
  const { rounds, schedules, shuffled, tell, early, signal } = proof
  const faults = Array.from({ length: rounds }, () => shuffled(faultKinds)).flat()
  const figures = await storm({
    ...{ clients: 16, pause: 60, schedules, calm: 3_000, faults, tell },
    ...(signal && { signal }),
  })
  const { notes } = figures
  const lost = { ...figures, notes: { ...notes, missing: notes.missing + notes.unansweredMissing } }
  const broken = violations(early ? lost : figures)
  if (rounds >= 5 && figures.ticks.ticks < LEAST_TICKS)
    broken.push(`only ${figures.ticks.ticks} ticks: too few to say anything`)
  return { figures, broken }
}
