/** How long the blocks of one or more runs took: by deployed version, by block. No values, and nothing of who asked. */

// How often something happened and how long it took, as counts of steps of time: four steps an octave from 1 µs to 30 s, so
// that what is estimated of them is at most 10 % off. Counts of nodes are added up.

/** Count by step. */
export type StepTimes = Map<number, number>

const STEPS_AN_OCTAVE = 4
const LAST_STEP = 100

export function stepOf(microseconds: number): number {
  const step = Math.floor(Math.log2(Math.max(0, microseconds) + 1) * STEPS_AN_OCTAVE)
  return Math.min(step, LAST_STEP)
}

export function addTime(times: StepTimes, microseconds: number): void {
  addCount(times, stepOf(microseconds), 1)
}

export function addTimes(times: StepTimes, more: Iterable<readonly [step: number, count: number]>): void {
  for (const [step, count] of more) addCount(times, step, count)
}

function addCount(times: StepTimes, step: number, count: number): void {
  times.set(step, (times.get(step) ?? 0) + count)
}

export function countOf(times: StepTimes): number {
  let all = 0
  for (const count of times.values()) all += count
  return all
}

/** Microseconds that this share stayed below, in the middle of its step; 0 without any. */
export function timeAt(times: StepTimes, share: number): number {
  const rank = share * countOf(times)
  let before = 0
  for (const [step, count] of [...times].toSorted(([a], [b]) => a - b)) {
    before += count
    if (before >= rank) return Math.round(2 ** ((step + 0.5) / STEPS_AN_OCTAVE) - 1)
  }
  return 0
}

/** A deployed version of a blueprint. */
export interface Deployed {
  readonly blueprint: string
  readonly deployment: number
}

/** What blocks that ask models have used in sampled runs. */
export interface ModelUse {
  readonly tokens: number
  readonly cost: number
}

/** Of one version. */
export interface VersionTimes extends Deployed {
  /** Runs that began with one of its triggers. */
  runs: number
  readonly blocks: Map<string, StepTimes>
  /** Of blocks that ask models. */
  readonly used: Map<string, ModelUse>
}

/** As it is stored. */
export interface PlainTimes extends Deployed {
  readonly runs: number
  readonly blocks: readonly (readonly [
    block: string,
    times: readonly (readonly [number, number])[],
    used?: ModelUse,
  ])[]
}

export class Sample {
  readonly versions = new Map<string, VersionTimes>()

  add(of: Deployed, block: string, times: Iterable<readonly [number, number]>, used?: ModelUse): void {
    const version = this.of(of)
    addTimes(timesOf(version, block), times)
    if (used) version.used.set(block, usedTogether(version.used.get(block), used))
  }

  merge(more: PlainTimes): void {
    this.of(more).runs += more.runs
    for (const [block, times, used] of more.blocks) this.add(more, block, times, used)
  }

  of({ blueprint, deployment }: Deployed): VersionTimes {
    const key = `${blueprint} ${deployment}`
    const version = this.versions.get(key) ?? {
      ...{ blueprint, deployment, runs: 0 },
      ...{ blocks: new Map<string, StepTimes>(), used: new Map<string, ModelUse>() },
    }
    this.versions.set(key, version)
    return version
  }
}

function timesOf({ blocks }: VersionTimes, block: string): StepTimes {
  const times = blocks.get(block) ?? new Map<number, number>()
  blocks.set(block, times)
  return times
}

export function plainTimes({ blueprint, deployment, runs, blocks, used }: VersionTimes): PlainTimes {
  const plain = [...blocks].map(([block, times]): PlainTimes['blocks'][number] => {
    const use = used.get(block)
    return use ? [block, [...times], use] : [block, [...times]]
  })
  return { blueprint, deployment, runs, blocks: plain }
}

/** Of money: a millionth is the least part. */
const PARTS = 1_000_000

export function usedTogether(one: ModelUse | undefined, other: ModelUse): ModelUse {
  const { tokens, cost } = one ?? { tokens: 0, cost: 0 }
  return { tokens: tokens + other.tokens, cost: Math.round((cost + other.cost) * PARTS) / PARTS }
}
