import type { Counted } from '../../blocks/block-services.ts'
import type { Clock } from '../../shared/clock.ts'
import { SerializationConflict, type UnitOfWork } from '../../storage/unit-of-work.ts'

/** All tries of one run. */
export interface RetryState extends UnitOfWork {
  /** Whether what it has read must still hold when it writes. Else it begins again only for its writes: see `run-units.ts`. */
  readonly holdsReads: boolean
  attempt: number
  turn?: string | undefined
  /** Milliseconds since 1970: no further try begins, and this one must be over. */
  readonly until: number
  /** Something is committed, or may be done outside. */
  committed: boolean
  /** Called at its first commit. */
  onCommit?: () => void
  /** What was counted in its tries, by what was asked, in the order of asking. */
  readonly counted: Map<string, readonly Counted[]>
}

/** Whether a failed try may be followed by another one: others have changed what it has read or hold what it writes, and nothing of it is done. */
export function mayBeginAgain(unit: RetryState, error: unknown, clock: Clock): boolean {
  return error instanceof SerializationConflict && !unit.committed && clock() < unit.until
}
