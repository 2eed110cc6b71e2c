const STEP_MS = 0.01
const STEPS = 100_000

/** Durations of requests in steps of 10 µs up to 1 s; longer ones count as 1 s. */
export class Latencies {
  readonly #counts = new Uint32Array(STEPS + 1)
  #total = 0

  get total(): number {
    return this.#total
  }

  note(milliseconds: number): void {
    const step = Math.min(STEPS, Math.floor(milliseconds / STEP_MS))
    this.#counts[step] = (this.#counts[step] ?? 0) + 1
    this.#total += 1
  }

  add(other: Latencies): void {
    for (let step = 0; step <= STEPS; step++)
      this.#counts[step] = (this.#counts[step] ?? 0) + (other.#counts[step] ?? 0)
    this.#total += other.#total
  }

  /** The milliseconds within which this share (0–1) of the requests was answered; NaN without any. */
  within(share: number): number {
    const requested = Math.max(1, Math.ceil(this.#total * share))
    let seen = 0
    for (let step = 0; step <= STEPS; step++) {
      seen += this.#counts[step] ?? 0
      if (seen >= requested) return (step + 1) * STEP_MS
    }
    return Number.NaN
  }
}
