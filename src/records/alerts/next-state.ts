import type { AlertFigure } from '../../shared/alerts/alert-figures.ts'

export interface AlertLimit {
  readonly figure: AlertFigure
  readonly threshold: number
}

/** How far back it must be to be over: a figure that moves around its threshold fires once, and not each minute. */
const BACK = 0.8

/** Whether the alert fires after this value; null: nothing is known, so it stays as it is. */
export function firesAfter(
  { figure, threshold }: AlertLimit,
  value: number | null,
  firing: boolean,
): boolean {
  if (value === null) return firing
  if (figure === 'disk_free') return firing ? value <= threshold / BACK : value <= threshold
  // A threshold of 0 would fire on nothing: what is not there is never too much.
  if (value === 0) return false
  return firing ? value > threshold * BACK : value >= threshold
}
