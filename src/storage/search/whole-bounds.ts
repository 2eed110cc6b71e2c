import type { Bounds } from '../../shared/query.ts'

/** From these on, and before those: all of them hold. */
export interface WholeBounds {
  readonly from: readonly number[]
  readonly before: readonly number[]
}

/**
 * Bounds on whole numbers as bounds that are whole themselves: at least 4.5 is from 5 on, at most 4.5 is before 5, more
 * than 4 is from 5 on. So bounds in seconds can be asked of a column of milliseconds, which has the index.
 */
export function wholeBounds({ gte, gt, lte, lt }: Bounds): WholeBounds {
  const from: number[] = []
  const before: number[] = []
  if (gte !== undefined) from.push(Math.ceil(Number(gte)))
  if (gt !== undefined) from.push(Math.floor(Number(gt)) + 1)
  if (lte !== undefined) before.push(Math.floor(Number(lte)) + 1)
  if (lt !== undefined) before.push(Math.ceil(Number(lt)))
  return { from, before }
}
