import type { Clock } from '../../src/shared/clock.ts'
import type { Database } from '../../src/storage/database.ts'

/** What one test works with. */
export interface World {
  database: Database
  readonly clock: Clock & { now: number }
  /** The name of an empty storage that no other test uses. */
  readonly name: string
  /** Closes `storage` and opens it again; from then on `storage` is the new one. */
  reopen(): Promise<void>
}

/** Declares one test of a chapter. */
export type It = (name: string, run: (world: World) => Promise<void>) => void
