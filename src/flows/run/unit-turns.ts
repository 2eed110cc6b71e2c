/**
 * Which runs of one flow this node tries at once, where a run may have to begin again because others changed what it has
 * read. Who waits does so in order of arrival, without a connection and without a lock.
 *
 * By key (`one_at_a_time`): one after the other, over all nodes.
 *
 * Without a key: all of them, until one conflicts. Runs that meet on the same few documents undo each other, and each that
 * begins again alone stops the units of all flows. So a conflict halves the number, and each run that succeeds makes it
 * a little larger, as senders share a line (RFC 5681, 3.1). Where only one is left, those of all nodes come one after the other.
 * Read a document and then write it, 32 clients on 8 documents, 2 nodes on PostgreSQL: 182 and 52 → 449 and 413 a second,
 * 0.6 → 0.07 tries undone a run (in turns, load average 7; `npm run bench -- --only contention`).
 */
import { type Clock, processTimers, type Timers } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { CompiledFlow } from '../compile/frame.ts'

export interface UnitTurn {
  /** Of all nodes, only one run with this text may be under way. */
  readonly text: string | undefined
  /** Ends the turn, once. `conflict`: the run was undone. */
  readonly end: (conflict: boolean) => void
}

export interface TurnRequest {
  readonly flow: CompiledFlow
  /** What runs have in common that come one after the other. */
  readonly key: string | undefined
  /** From when on it waits no longer, milliseconds since 1970. */
  readonly until: number
  /** It was undone, and goes before those that have not begun. */
  readonly again: boolean
  /** When aborted it waits no longer: the run says why itself. */
  readonly signal: AbortSignal | undefined
}

/** Fails with UNAVAILABLE when it is not the run's turn in time. */
export type UnitTurns = (requested: TurnRequest) => MaybePromise<UnitTurn>

/** Above it a flow is limited no longer. */
const MOST = 64
/** Twice as many after 22 runs without a conflict. */
const GROWTH = 33 / 32

interface Line {
  /** How many may be under way; a fraction while it grows. */
  most: number
  underWay: number
  readonly waiting: Set<() => void>
}

export function unitTurns(clock: Clock, timers: Pick<Timers, 'after'> = processTimers): UnitTurns {
  const flows = new WeakMap<CompiledFlow, Line>()
  /** Of each key, as long as a run with it is under way. */
  const keys = new Map<string, Line>()

  function lineOf({ flow, key }: TurnRequest): Line {
    const text = textOf(flow, key)
    const found = text === undefined ? flows.get(flow) : keys.get(text)
    if (found) return found
    const line = {
      most: text === undefined ? Number.POSITIVE_INFINITY : 1,
      underWay: 0,
      waiting: new Set<() => void>(),
    }
    if (text === undefined) flows.set(flow, line)
    else keys.set(text, line)
    return line
  }

  function begin(line: Line, { flow, key }: TurnRequest): UnitTurn {
    line.underWay += 1
    let isOver = false
    const end = (conflict: boolean) => {
      if (isOver) return
      isOver = true
      if (key === undefined) line.most = mostAfter(line, conflict)
      line.underWay -= 1
      for (const go of line.waiting) {
        if (line.underWay + 1 > line.most) break
        go()
      }
      if (key !== undefined && line.underWay === 0) keys.delete(textOf(flow, key) ?? '')
    }
    return { text: textOf(flow, key) ?? (line.most < 2 ? flow.trigger : undefined), end }
  }

  return (requested) => {
    const line = lineOf(requested)
    if (line.underWay + 1 <= line.most) return begin(line, requested)
    return waitIn(line, requested, { clock, timers }, () => begin(line, requested))
  }
}

/** The turn, when it comes. */
function waitIn(
  line: Line,
  { again, signal, until }: TurnRequest,
  { clock, timers }: { readonly clock: Clock; readonly timers: Pick<Timers, 'after'> },
  begun: () => UnitTurn,
): Promise<UnitTurn> {
  return new Promise((resolve, reject) => {
    const stopWaiting = () => {
      timer.end()
      line.waiting.delete(go)
      signal?.removeEventListener('abort', go)
    }
    const go = () => {
      stopWaiting()
      resolve(begun())
    }
    const timer = timers.after(Math.max(0, until - clock()), () => {
      stopWaiting()
      reject(tooLong())
    })
    signal?.addEventListener('abort', go)
    const others = again ? [...line.waiting] : []
    for (const other of others) line.waiting.delete(other)
    line.waiting.add(go)
    for (const other of others) line.waiting.add(other)
  })
}

/** The trigger is the same in each deployment of the flow, and on each node. */
function textOf({ trigger }: CompiledFlow, key: string | undefined): string | undefined {
  return key === undefined ? undefined : `${trigger} ${key}`
}

function mostAfter({ most, underWay }: Line, conflict: boolean): number {
  if (conflict) return Math.max(1, Math.floor(Math.min(most, underWay) / 2))
  return most < MOST ? most * GROWTH : Number.POSITIVE_INFINITY
}

function tooLong(): QuoinError {
  return new QuoinError(
    'UNAVAILABLE',
    'Other runs of the same flow took too long; nothing was stored. Try again.',
    {
      retryAfter: 1,
    },
  )
}
