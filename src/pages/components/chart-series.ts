export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

export interface Plot {
  readonly type: 'bar' | 'line'
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** How a number on the axis is written: short. */
  axis(value: number): string
}
