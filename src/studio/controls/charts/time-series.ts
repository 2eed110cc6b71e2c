export interface TimeSeries {
  readonly name: string
  /** One for each step; null where nothing was measured. */
  readonly values: readonly (number | null)[]
  readonly colour: 'calm' | 'warm' | 'bad'
  /** Told apart without colours. */
  readonly dash?: string
}

const DAY = 86_400

/** The time of a step: with its day where the steps span more than one. */
export function timeWords(at: number, times: readonly number[], whole = false): string {
  const [first = 0] = times
  const span = (times.at(-1) ?? 0) - first
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const day = { weekday: 'short', day: 'numeric' } as const
  const requested = whole ? { ...day, month: 'short' as const, ...time } : span > DAY ? day : time
  return new Date(at * 1000).toLocaleString(undefined, requested)
}
