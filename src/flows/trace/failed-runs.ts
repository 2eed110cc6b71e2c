/**
 * Keeps runs that failed or refused their request untraced, with the values that their frames still held: a run that succeeds
 * is never looked at. A burst must not slow the node down: {@link MOST} are kept a second, and of refusals (below 500)
 * the first one of a trigger and status in a minute. Other failures are only logged.
 */

import { type Clock, hasPassed } from '../../shared/clock.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { BlockFailure } from '../compile/block-failure.ts'
import { type Frame, type SlotPin, UNSET } from '../compile/frame.ts'
import type { Flows } from '../flows.ts'
import type { RunEnd, RunStart } from '../run/run-start.ts'
import type { RunRecords } from './run-records.ts'
import { RunTrace } from './run-trace.ts'
import { type RunAbout, RunUnderWay } from './run-under-way.ts'
import { triggersOf } from './traced-flows.ts'

// Which refused requests are kept: of each trigger and status the first one in a minute, on each node. Refusals are
// usual, and many of them are the same.

const MINUTE = 60_000
/** Triggers and statuses that are remembered; of more, some are kept more often. */
const MOST_REFUSALS = 1_000

/** Whether this one is due. Asked once for each. */
export type RefusalWindow = (trigger: string, status: number) => boolean

function refusalWindow(clock: Clock): RefusalWindow {
  const last = lruCache<string, number>(MOST_REFUSALS)
  return (trigger, status) => {
    const key = `${trigger} ${status}`
    const now = clock()
    if (!hasPassed(MINUTE, last.get(key) ?? Number.NEGATIVE_INFINITY, now)) return false
    last.set(key, now)
    return true
  }
}

interface FailedRunsOptions {
  readonly flows: Pick<Flows, 'live' | 'environment'>
  /** Guid of this node. */
  readonly node: string
  readonly records: Pick<RunRecords, 'isFull' | 'put'>
}

const MOST = 10
const WINDOW = 1_000

export function failedRuns({
  flows: { live, environment },
  node,
  records,
}: FailedRunsOptions): (start: RunStart, end: RunEnd) => void {
  const { clock, secrets } = environment
  // A burst of failures leaves room for refusals.
  const mayKeep = atMost(clock)
  const mayKeepRefusal = atMost(clock)
  const isDue = refusalWindow(clock)

  return (start, end) => {
    const { left } = end
    if (!left) return
    const status = end.error?.status ?? left.refusal?.code ?? 500
    const isRefusal = status < 500
    if (isRefusal && !isDue(start.flow.trigger, status)) return
    const found = live.table().blueprints.get(start.blueprint)
    const trigger = found && triggersOf(found.compiled).find(({ flow }) => flow === start.flow)
    if (!found || !trigger || records.isFull || !(isRefusal ? mayKeepRefusal() : mayKeep())) return
    const trace = new RunTrace(performance.now() - left.milliseconds)
    for (const password of start.request?.visit?.passwords ?? []) trace.secrets.noteWhole(password)
    // Another server may have sent back what it was sent.
    for (const name of found.compiled.secrets) {
      const opened = secrets?.open(name)
      if (opened && 'value' in opened) trace.secrets.noteWhole(opened.value)
    }
    const about: RunAbout = {
      ...{ guid: end.run, node, blueprint: start.blueprint, trigger, deployment: found.deployment },
      blocks: found.compiled.blocks,
      ...{
        replayOf: null,
        recordedAs: isRefusal ? 'refused' : 'failed',
        started: clock() - left.milliseconds,
      },
    }
    const run = new RunUnderWay(about, start, trace)
    if (left.frame) {
      traceLeft(trace, left.frame, start.flow.slotPins ?? [])
      traceFailure(trace, left.frame, left.cause ?? end.error?.cause)
    }
    if (left.refusal && !end.error) run.replied(left.refusal)
    run.ended(end)
    records.put(run.record())
  }
}

/** One step for each block of which a value is left, in the order in which the slots were numbered. */
function traceLeft(trace: RunTrace, frame: Frame, pins: readonly SlotPin[]): void {
  const blocks = new Map<string, { readonly at: SlotPin; readonly values: Record<string, unknown> }>()
  for (const [slot, at] of pins.entries()) {
    const value = frame.slots[slot]
    if (value === undefined || value === UNSET) continue
    const known = blocks.get(at.block) ?? { at, values: {} }
    blocks.set(at.block, known)
    known.values[at.pin] = value
  }
  const inOrder = [...blocks.values()].toSorted(
    (a, b) => Number(b.at.kind === 'trigger') - Number(a.at.kind === 'trigger'),
  )
  for (const { at, values } of inOrder) trace.gave(trace.begin(frame, at, {}), values, null)
}

function traceFailure(trace: RunTrace, frame: Frame, cause: unknown): void {
  if (!(cause instanceof BlockFailure)) return
  const { block, type, inputs = {} } = cause
  trace.fail(trace.begin(frame, { block, type, kind: 'flow' }, inputs), cause, null)
}

/** Whether one more fits into the present second. */
function atMost(clock: Clock): () => boolean {
  let began = 0
  let count = 0
  return () => {
    const now = clock()
    if (hasPassed(WINDOW, began, now)) {
      began = now
      count = 0
    }
    count += 1
    return count <= MOST
  }
}
