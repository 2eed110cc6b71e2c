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
