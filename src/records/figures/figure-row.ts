/**
 * Figures of one step of time, as lists of numbers: a day of them is a small document. What is not there is 0, so zeros at
 * the end are left out.
 *
 * - `traffic`, one a node: requests, refused (4xx), failed (5xx), runs, failed runs, then a count for each step of latency.
 *   Added up over time and over nodes.
 * - `queues`, one for the cluster: waiting, running, dead, seconds that the oldest due job waits. The highest counts.
 */
export type FigureKind = 'traffic' | 'queues'
export type Figures = readonly number[]

/** Where the counts of latency begin. */
export const LATENCY = 5

export function together(kind: FigureKind, one: Figures, other: Figures): Figures {
  const merge =
    kind === 'traffic' ? (a: number, b: number) => a + b : (a: number, b: number) => Math.max(a, b)
  const [long, short] = one.length >= other.length ? [one, other] : [other, one]
  return long.map((value, at) => merge(value, short[at] ?? 0))
}

/** What came since `before`. Fewer than before: a process of the node was started again, and what it had counted is gone. */
export function since(before: Figures, now: Figures): Figures {
  return trimmed(now.map((value, at) => Math.max(0, value - (before[at] ?? 0))))
}

export function trimmed(figures: Figures): Figures {
  const last = figures.findLastIndex((value) => value !== 0)
  return figures.slice(0, last + 1)
}

/** A row of a document: its step, then its figures. */
export type FigureRow = readonly [step: number, ...figures: number[]]

/** The rows with one more; a row of the same step becomes one with it. In order of steps. */
export function withRow(
  kind: FigureKind,
  rows: readonly FigureRow[],
  step: number,
  figures: Figures,
): FigureRow[] {
  const same = rows.find(([one]) => one === step)
  const row: FigureRow = [step, ...(same ? together(kind, same.slice(1), figures) : figures)]
  return [...rows.filter(([one]) => one !== step), row].toSorted(([a], [b]) => a - b)
}

/** Of a stored document. What is no row is left out. */
export function rowsIn(value: unknown): FigureRow[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((row: unknown) => {
    if (!Array.isArray(row)) return []
    const [step, ...figures] = row.filter((one) => typeof one === 'number')
    return step === undefined ? [] : [[step, ...figures]]
  })
}

/** Seconds. From what a cached reply takes to the deadline of a run; a last, open step follows. */
export const latencySteps = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Milliseconds that this share of the requests stayed below, estimated inside its step; null without requests. `buckets`:
 * how many took at most as long as the step says and longer than the one before; what is missing at the end is 0.
 */
export function latencyAt(share: number, buckets: readonly number[]): number | null {
  const all = buckets.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  const rank = share * all
  let before = 0
  for (const [at, count] of buckets.entries()) {
    if (count > 0 && before + count >= rank) {
      const from = at === 0 ? 0 : (latencySteps[at - 1] ?? 0)
      // Longer than the last step: no more is known.
      const to = latencySteps[at] ?? from
      return Math.round((from + ((rank - before) / count) * (to - from)) * 10_000) / 10
    }
    before += count
  }
  return null
}
