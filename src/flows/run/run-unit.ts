import type { UnitOfWork } from '../../storage/unit-of-work.ts'

/** All tries of one run. */
export interface RunUnit extends UnitOfWork {
  attempt: number
  /** Milliseconds since 1970: no further try begins, and this one must be over. */
  readonly until: number
  /** Something is committed, or may be done outside. */
  committed: boolean
}
