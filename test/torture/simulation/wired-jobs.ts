/** The queue as one simulated node sees it, and a note of each end of a job that the database acknowledged. */
import type { Claim, Job, JobLease, Jobs, Queues } from '../../../src/storage/job.ts'
import type { RandomSource } from '../random-source.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'
import type { Wire } from './wired-database.ts'

/** `how`: what the worker asked for, and the database said that it was done. */
export interface AcknowledgedEnd extends JobLease {
  readonly how: 'complete' | 'fail' | 'release'
}

export interface Failure extends JobLease {
  /** Milliseconds until it is tried again, by the node's own clock. */
  readonly waits: number
}

export interface JobNotes {
  readonly ends: AcknowledgedEnd[]
  readonly failures: Failure[]
}

export interface JobWire {
  readonly jobs: Jobs
  readonly notes: JobNotes
  readonly wire: Wire
  readonly time: VirtualTime
  readonly owner: Owner
  readonly dice: RandomSource
  readonly clock: () => number
  /** Everything that may give workers something to do. */
  readonly wakes: readonly Jobs[]
}

export function wiredJobs({ jobs, notes, wire, time, owner, dice, clock, wakes }: JobWire): Jobs {
  async function ending(how: AcknowledgedEnd['how'], lease: JobLease, end: Promise<boolean>) {
    const ended = await end
    if (ended) notes.ends.push({ how, guid: lease.guid, owner: lease.owner, attempt: lease.attempt })
    return ended
  }
  return {
    claim: (claim: Claim): Promise<readonly Job[]> => wire.call(() => jobs.claim(claim)),
    renew: (lease, leaseMs) => wire.call(() => jobs.renew(lease, leaseMs)),
    complete: (lease) => wire.call(() => ending('complete', lease, jobs.complete(lease))),
    fail(lease, message, retryAt, failedIn) {
      if (retryAt !== undefined) {
        const { guid, owner: by, attempt } = lease
        notes.failures.push({ guid, owner: by, attempt, waits: retryAt - clock() })
      }
      return wire.call(() => ending('fail', lease, jobs.fail(lease, message, retryAt, failedIn)))
    },
    release: (leases, later) => wire.call(() => jobs.release(leases, later)),
    get: (guid) => wire.call(() => jobs.get(guid)),
    states: (guids) => wire.call(() => jobs.states(guids)),
    search: (search) => wire.call(() => jobs.search(search)),
    requeue: (guid) => wire.call(() => jobs.requeue(guid)),
    cancel: (guid) => wire.call(() => jobs.cancel(guid)),
    onEnqueued(listener) {
      // Lost, late and doubled: a wake-up is only a hint.
      const wake = () => {
        for (let times = dice.oneOf([0, 1, 1, 1, 2]); times > 0; times--)
          time.at(owner, time.now + dice.between(0, 100), listener)
      }
      const ends = wakes.map((one) => one.onEnqueued(wake))
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

export function wiredQueues(queues: Queues, wire: Wire): Queues {
  return {
    list: () => wire.call(() => queues.list()),
    configure: (queue, settings) => wire.call(() => queues.configure(queue, settings)),
    purge: (doneBefore) => wire.call(() => queues.purge(doneBefore)),
  }
}
