/** One call that a block counts. */
export interface CountedCall {
  /** What is counted together. Any length: only its hash is stored. */
  readonly key: string
  /** Milliseconds, from the first call that is counted. */
  readonly window: number
  /** Allowed in a window. */
  readonly most: number
  /** How much this call counts: 0 only asks. */
  readonly amount: number
}

export interface Counted {
  readonly allowed: boolean
  /** What the window still allows after this call. */
  readonly remaining: number
  /** Seconds until the window ends; 0 when the call is allowed. */
  readonly retryAfter: number
}

/** Counts of the cluster, for blocks. They stand on their own: a run that fails later does not undo them. */
export interface RunCounts {
  count(call: CountedCall): Promise<Counted>
}
