import type { Held } from '../claims.ts'

/** Documents that a field refers to: which documents refer to them with it, at most `limit`. */
export interface Referred {
  readonly field: string
  readonly guids: readonly string[]
  readonly limit: number
}

export const noneHeld: Held = { guids: [], referrers: () => [] }
