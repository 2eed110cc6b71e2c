/** Has the writes to a storage noted once that was often wanted: the trigger costs each write, and most storages need none. */
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'

/** Reads that could have been kept; one that took long counts as several. */
const OFTEN = 10
const MS_OF_ONE = 10
/** Until the next try, where a long transaction was in the way. */
const PAUSE_MS = 10_000
/** Where the database refuses it: most likely it always will. */
const REFUSED_MS = 3_600_000

export interface NotingParts {
  /** false: not now. */
  readonly note: (storage: string) => Promise<boolean>
  readonly clocks: LeaseClocks
  readonly report: (error: unknown) => void
}

/** `milliseconds`: what keeping it would have saved, if that is known. */
export type WantNotes = (storage: string, milliseconds?: number) => void

/** To be called with the name of a storage that is there. */
export function noteWhenWanted({ note, clocks, report }: NotingParts): WantNotes {
  const wanted = new Map<string, number>()
  let isNoting = false
  let paused: { readonly since: Instant; readonly milliseconds: number } | undefined
  const pause = (milliseconds: number) => {
    paused = { since: instantOf(clocks), milliseconds }
  }

  async function begin(storage: string): Promise<void> {
    isNoting = true
    try {
      if (await note(storage)) wanted.delete(storage)
      else pause(PAUSE_MS)
    } catch (error) {
      pause(REFUSED_MS)
      report(error)
    } finally {
      isNoting = false
    }
  }

  return (storage, milliseconds = 0) => {
    const times = (wanted.get(storage) ?? 0) + Math.max(1, milliseconds / MS_OF_ONE)
    wanted.set(storage, times)
    if (times < OFTEN || isNoting) return
    if (paused && millisecondsSince(paused.since, clocks) < paused.milliseconds) return
    void begin(storage)
  }
}
