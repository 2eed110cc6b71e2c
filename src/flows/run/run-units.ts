/**
 * Runs of flows that are units of work (`flows/compile/unit-flow.ts`): when others have changed what such a run has read, it
 * is undone and begins once more with its trigger, within the time that a run has. Nothing of a try that failed remains:
 * neither writes nor jobs, log entries, entries of the cache or what a page was asked. Up to its first commit a run is a unit: what it does behind a
 * block that touches the world outside, or behind its reply, could not begin once more.
 *
 * Where transactions are open side by side, two of them may wait for each other: one transfers from A to B, another one from B to
 * A. The database undoes one of the two, whether it has read something or not. So a run that only writes begins once more too.
 */

import type { BlockServices, Counted, CountedCall, RunCounts } from '../../blocks/block-services.ts'
import type { Clock } from '../../shared/clock.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { andThen, isPromise, type MaybePromise, recover } from '../../shared/maybe-promise.ts'
import type { Database, Origin, Session } from '../../storage/database.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import type { CompiledFlow } from '../compile/frame.ts'
import type { RunLimits } from './run-environment.ts'
import type { RetryState, RunEnd, RunFlow, RunStart } from './run-start.ts'
import { type UnitTurn, type UnitTurns, unitTurns } from './unit-turns.ts'

/** Characters. */
const LONGEST_KEY = 4_096
const LONG_KEY = `The value of one_at_a_time must have at most ${LONGEST_KEY} characters.`

export interface UnitParts {
  readonly clock: Clock
  readonly limits: Pick<RunLimits, 'deadline'>
  /** Whether transactions are open side by side. */
  readonly sideBySide: boolean
  readonly newGuid: () => string
  /** Evaluates a pin of the trigger. */
  readonly evaluate: RunFlow
  readonly turns?: UnitTurns
}

export function retryOnConflict({
  clock,
  limits,
  sideBySide,
  newGuid,
  evaluate,
  turns = unitTurns(clock),
}: UnitParts): (run: RunFlow) => RunFlow {
  return (run) => (start) => {
    const { oneAtATime } = start.flow
    const holdsReads = oneAtATime !== undefined || isWhen(start.flow.unit, start)
    if (!holdsReads && !(sideBySide && isWhen(start.flow.writes, start))) return run(start)
    const until = clock() + limits.deadline
    const unit: RetryState = { attempt: 1, holdsReads, until, committed: false, counted: new Map() }
    // A run that goes on after a wait has no longer what its key was calculated from.
    if (oneAtATime === undefined || start.resume !== undefined) return tries(run, start, unit, undefined)
    return andThen(evaluate({ ...start, flow: oneAtATime }), (end) => {
      if (end.error) return end
      const key = typeof end.result === 'string' ? end.result : ''
      if (key.length > LONGEST_KEY) return unbegun(newGuid(), invalidField('one_at_a_time', LONG_KEY))
      return tries(run, start, unit, key === '' ? undefined : key)
    })
  }

  function tries(
    run: RunFlow,
    start: RunStart,
    unit: RetryState,
    key: string | undefined,
  ): MaybePromise<RunEnd> {
    const { flow, signal } = start
    const { until } = unit
    /** A run with a key keeps its place between its tries. */
    let place: UnitTurn | undefined
    const ran = (turn: UnitTurn): MaybePromise<RunEnd> => {
      place = turn
      unit.turn = turn.text
      unit.onCommit = () => turn.end(false)
      const tried = recover(
        () => run({ ...start, unit }),
        (error) => {
          turn.end(false)
          throw error
        },
      )
      return andThen(tried, (end) => {
        if (!end.again || key === undefined) turn.end(end.again === true)
        return end
      })
    }
    const attempt = (again: boolean): MaybePromise<RunEnd> => {
      if (again && key !== undefined && place !== undefined) return ran(place)
      const turn = turns({ flow, key, until, again, signal })
      return isPromise(turn) ? turn.then(ran, (error) => unbegun(newGuid(), error)) : ran(turn)
    }
    return andThen(attempt(false), (end) => (end.again ? tryAgain(() => attempt(true), start, unit) : end))
  }
}

/** A run that has not begun. */
function unbegun(run: string, error: unknown): RunEnd {
  if (!(error instanceof QuoinError)) throw error
  return { run, replied: false, error, result: undefined }
}

async function tryAgain(
  attempt: () => MaybePromise<RunEnd>,
  start: RunStart,
  unit: RetryState,
): Promise<RunEnd> {
  let end: RunEnd
  do {
    unit.attempt += 1
    start.request?.visit?.beginAgain()
    end = await attempt()
  } while (end.again)
  return end
}

function isWhen(when: CompiledFlow['unit'], { request }: RunStart): boolean {
  if (when === 'when_sent') return request?.method !== 'GET' && request?.method !== 'HEAD'
  return when === 'always'
}

/** The session of one try of a run that may begin again. */
export function unitSession(
  database: Pick<Database, 'session'>,
  unit: RetryState,
  origin: Origin,
  committed: () => void,
): Session {
  const own = unit.holdsReads ? { ...origin, unit } : { ...origin, optimistic: unit.attempt === 1 }
  return new CommittingSession(database.session(own), () => {
    unit.committed = true
    unit.onCommit?.()
    committed()
  })
}

/** A session that tells of each commit once it is durable. */
class CommittingSession extends TransparentSession {
  readonly #committed: () => void

  constructor(session: Session, committed: () => void) {
    super(session)
    this.#committed = committed
  }

  override commit(): MaybePromise<void> {
    return andThen(super.commit(), () => this.#committed())
  }
}

/** The services for one try of a run. A unit of work that begins once more gets what its first try has counted. */
export function unitServices(services: BlockServices, unit: RetryState | undefined): BlockServices {
  return unit ? { ...services, counts: unitCounts(services.counts, unit) } : services
}

function unitCounts(counts: RunCounts, unit: RetryState): RunCounts {
  const asked = new Map<string, number>()
  return {
    async count(call) {
      const key = keyOf(call)
      const nth = asked.get(key) ?? 0
      asked.set(key, nth + 1)
      const known: readonly Counted[] = unit.counted.get(key) ?? []
      const before = known[nth]
      if (before) return before
      const counted = await counts.count(call)
      unit.counted.set(key, [...known, counted])
      return counted
    },
  }
}

function keyOf({ key, window, most, amount }: CountedCall): string {
  return `${window} ${most} ${amount} ${key}`
}
