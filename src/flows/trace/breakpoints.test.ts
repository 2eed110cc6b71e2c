import { describe, expect, test } from 'vitest'
import { RunStopped } from '../compile/block-failure.ts'
import type { RetryState } from '../run/run-start.ts'
import { Breakpoints, type NodePauses } from './breakpoints.ts'
import type { TraceStep } from './run-trace.ts'

const LEASE = 60_000

function open(more: Partial<NodePauses> = {}, unit?: RetryState) {
  const node: NodePauses = {
    clock: () => 1_000,
    lease: LEASE,
    pausesAt: (block) => block === 'break',
    paused: new Set(),
    most: 2,
    closing: false,
    ...more,
  }
  const abort = new AbortController()
  const session = { transaction: { hasWritten: false } }
  const times: string[] = []
  const run = {
    unit,
    session,
    steps: {
      signal: abort.signal,
      pause: () => void times.push('pause'),
      goOn: () => void times.push('go on'),
    },
  }
  const trace = { pause: () => undefined, goOn: () => undefined }
  let changes = 0
  const breakpoints = new Breakpoints(node, run, trace, () => {
    changes += 1
  })
  return { node, abort, session, times, brake: breakpoints, changes: () => changes }
}

function at(block: string): TraceStep {
  const empty = { in: {}, out: {}, next: null, error: null, note: null }
  return { seq: 1, block, type: 't', frame: 0, kind: 'flow', at_us: 0, us: 0, ...empty }
}

/** Whether it is over after everything that is due has happened. */
async function isOver(promise: Promise<void> | undefined): Promise<boolean> {
  let over = false
  void promise?.then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  await new Promise((resolve) => setImmediate(resolve))
  return over
}

describe('does not pause', () => {
  test('where there is no breakpoint', () => {
    expect(open().brake.arrive(at('other'))).toBeUndefined()
  })

  test.each<[string, Partial<NodePauses>, boolean, string]>([
    ['after a write', {}, true, 'uncommitted writes'],
    ['when the node stops', { closing: true }, false, 'stopping'],
    ['when too many are paused', { most: 0 }, false, '0 runs are paused'],
  ])('%s, and says why', (_when, more, hasWritten, why) => {
    const { brake: breakpoints, session, node } = open(more)
    session.transaction.hasWritten = hasWritten
    const step = at('break')
    expect(breakpoints.arrive(step)).toBeUndefined()
    expect(step.note).toContain(why)
    expect(node.paused.size).toBe(0)
  })

  test('while others wait for its turn, and it does when they no longer do', () => {
    const unit = { attempt: 1, holdsReads: true, until: 0, turn: 'room', counted: new Map() }
    for (const committed of [false, true]) {
      const { brake, node } = open({}, { ...unit, committed })
      const step = at('break')
      void brake.arrive(step)
      expect([node.paused.size, step.note]).toEqual(
        committed ? [1, null] : [0, expect.stringContaining('one_at_a_time')],
      )
      brake.steer('resume')
    }
  })
})

describe('paused', () => {
  test('until a builder resumes it; its time stops', async () => {
    const { brake: breakpoints, times, node, changes } = open()
    const waiting = breakpoints.arrive(at('break'))
    expect(breakpoints.pause).toMatchObject({ since: 1_000, until: 1_000 + LEASE, step: { block: 'break' } })
    expect([node.paused.size, times, changes()]).toEqual([1, ['pause'], 1])
    expect(await isOver(waiting)).toBe(false)
    expect(breakpoints.steer('resume')).toBe(true)
    await waiting
    expect([node.paused.size, times, changes(), breakpoints.pause]).toEqual([
      0,
      ['pause', 'go on'],
      2,
      undefined,
    ])
    expect(breakpoints.arrive(at('other'))).toBeUndefined()
    expect(breakpoints.steer('resume')).toBe(false)
  })

  test('step stops at the next block, whatever it is', async () => {
    const { brake: breakpoints } = open()
    const waiting = breakpoints.arrive(at('break'))
    breakpoints.steer('step')
    await waiting
    const next = breakpoints.arrive(at('other'))
    expect(await isOver(next)).toBe(false)
    breakpoints.steer('resume')
    await next
    expect(breakpoints.arrive(at('other'))).toBeUndefined()
  })

  test('stop fails the run', async () => {
    const { brake: breakpoints } = open()
    const waiting = breakpoints.arrive(at('break'))
    breakpoints.steer('stop')
    await expect(waiting).rejects.toThrow(RunStopped)
  })

  test('other branches stand still too, and go on or fail with it', async () => {
    for (const how of ['resume', 'stop'] as const) {
      const { brake: breakpoints } = open()
      const [one, other] = [breakpoints.arrive(at('break')), breakpoints.arrive(at('other'))]
      expect([await isOver(one), await isOver(other)]).toEqual([false, false])
      breakpoints.steer(how)
      const settled = await Promise.allSettled([one, other])
      const status = how === 'resume' ? 'fulfilled' : 'rejected'
      expect(settled.map((result) => result.status)).toEqual([status, status])
    }
  })

  test('another branch that writes ends it', async () => {
    const { brake: breakpoints, session } = open()
    const step = at('break')
    const waiting = breakpoints.arrive(step)
    breakpoints.leave()
    expect(await isOver(waiting)).toBe(false)
    session.transaction.hasWritten = true
    breakpoints.leave()
    await waiting
    expect(step.note).toContain('has written')
  })

  test('until its lease ends; then it continues and does not pause again', async () => {
    const { brake: breakpoints } = open({ lease: 5 })
    await breakpoints.arrive(at('break'))
    expect(breakpoints.arrive(at('break'))).toBeUndefined()
  })

  test('what ends the run ends the pause', async () => {
    const { brake: breakpoints, abort, node } = open()
    const waiting = breakpoints.arrive(at('break'))
    abort.abort(new RunStopped('failed', 'Another branch of the run failed.'))
    await expect(waiting).rejects.toThrow('Another branch')
    expect(node.paused.size).toBe(0)
  })
})
