/**
 * Tools that call tools. Each call says how many led to it, so that a circle ends, also one that passes through other servers. A server that
 * does not hand the header on begins to count again; there the budgets of keys and the time of runs end the circle.
 */
import { QuoinError } from './errors.ts'

export const HOPS_HEADER = 'quoin-hops'
export const MOST_HOPS = 5

export function loopDetected(hops: number): QuoinError {
  return new QuoinError(
    'LOOP_DETECTED',
    `${hops} tools have called each other, and ${MOST_HOPS} may. Do they call each other in a circle?`,
  )
}

/** 0 where a client says nothing, or no number. */
export function hopsIn(header: string | readonly string[] | undefined): number {
  return typeof header === 'string' && /^\d{1,4}$/.test(header) ? Number(header) : 0
}
