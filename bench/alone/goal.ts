/** A goal that Quoin reaches alone, without a comparison. */
export interface Goal {
  /** For `--only`. */
  readonly id: string
  readonly title: string
  readonly goal: string
  readonly measure: (timing: GoalTiming) => Promise<Reached>
}

export interface GoalTiming {
  /** The servers'. */
  readonly core: number | undefined
  /** All cores of this machine that may be used; none where that is not known. */
  readonly allCores: readonly number[]
  readonly rounds: number
  /** Of one turn. */
  readonly seconds: number
}

export interface Reached {
  /** What was measured, for one cell of a table. */
  readonly found: string
  readonly met: boolean
}

export function milliseconds(time: number): string {
  return `${time.toFixed(time < 10 ? 2 : time < 100 ? 1 : 0)} ms`
}
