/** How long the blocks of one or more runs took: by deployed version, by block. No values, and nothing of who asked. */
import { addTimes, type StepTimes } from './step-times.ts'

/** A deployed version of a blueprint. */
export interface Deployed {
  readonly blueprint: string
  readonly deployment: number
}

/** Of one version. */
export interface VersionTimes extends Deployed {
  /** Runs that began with one of its triggers. */
  runs: number
  readonly blocks: Map<string, StepTimes>
}

/** As it is stored. */
export interface PlainTimes extends Deployed {
  readonly runs: number
  readonly blocks: readonly (readonly [block: string, times: readonly (readonly [number, number])[]])[]
}

export class Sample {
  readonly versions = new Map<string, VersionTimes>()

  add(of: Deployed, block: string, times: Iterable<readonly [number, number]>): void {
    addTimes(timesOf(this.of(of), block), times)
  }

  merge(more: PlainTimes): void {
    this.of(more).runs += more.runs
    for (const [block, times] of more.blocks) this.add(more, block, times)
  }

  of({ blueprint, deployment }: Deployed): VersionTimes {
    const key = `${blueprint} ${deployment}`
    const version = this.versions.get(key) ?? { blueprint, deployment, runs: 0, blocks: new Map() }
    this.versions.set(key, version)
    return version
  }
}

function timesOf({ blocks }: VersionTimes, block: string): StepTimes {
  const times = blocks.get(block) ?? new Map<number, number>()
  blocks.set(block, times)
  return times
}

export function plainTimes({ blueprint, deployment, runs, blocks }: VersionTimes): PlainTimes {
  return { blueprint, deployment, runs, blocks: [...blocks].map(([block, times]) => [block, [...times]]) }
}
