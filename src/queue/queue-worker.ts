/**
 * Runs jobs: claims them, renews their leases, and stores how they ended.
 *
 * The worker
 * - open: claims as many jobs as it has room for, when something was enqueued (told by the storage), when a job ended,
 *   and every `pollMs`: for jobs that become due by time, were enqueued by another node, or whose wake-up was lost. None
 *   while its node is fenced.
 * - draining (`close`): claims no more jobs and waits up to `drainMs` for the running ones. Then it aborts the rest, gives
 *   them `graceMs` to stop, and hands them back: another node can claim them at once, and no attempt is counted.
 * - closed: no job of it runs any more, except jobs that ignored their signal.
 *
 * A job is
 * - running: its lease is renewed every third of `leaseMs`, so two renewals may be lost.
 * - ended: it returned → complete, unless its run has done so with its last commit; it threw → tried again after a back-off, or dead after the last attempt. If that
 *   cannot be stored (full disk), the lease runs out and the job is run again: at least once, never silently not.
 * - refused: it threw JobRefused → dead at once, whatever attempts are left.
 * - continuing: it threw JobContinues → claimed again at once, with a new deadline, as if it had not been claimed before.
 * - overdue: it ran for `deadlineMs`. Its signal is aborted and it counts as failed, once it has stopped or `graceMs`
 *   later: a job that hangs occupies its place no longer than that. What it still does later changes nothing in the queue.
 * - lost: a renewal was refused because another node took the job over or a user cancelled it, or no renewal succeeded
 *   until the lease had run out. Its signal is aborted, and its end is not stored.
 */
import { type Clock, processTimers, type Timer, type Timers } from '../shared/clock.ts'
import { guidSource, type Random } from '../shared/guid.ts'
import { nextMode } from '../shared/state-machine.ts'
import type { Cluster } from '../storage/cluster.ts'
import {
  backOffOf,
  type FailedIn,
  type Job,
  JobContinues,
  JobPostponed,
  JobRefused,
  type Jobs,
  type Queues,
} from '../storage/job.ts'
import { backOff, pause, type WorkerMode, workerTransitions } from './worker-mode.ts'

export interface WorkerSettings {
  /** Most jobs at once. */
  readonly concurrency: number
  /** Most at once of these queues. */
  readonly queues: ReadonlyMap<string, number>
  readonly leaseMs: number
  readonly pollMs: number
  /** Longest that one attempt may take. */
  readonly deadlineMs: number
  /** How long an aborted job may take to stop. */
  readonly graceMs: number
  /** How long `close` waits for running jobs. */
  readonly drainMs: number
  /** How long jobs that are done are kept to be looked at. */
  readonly keepDoneMs: number
}

const usual: WorkerSettings = {
  concurrency: 64,
  queues: new Map(),
  leaseMs: 15_000,
  pollMs: 1_000,
  deadlineMs: 300_000,
  graceMs: 2_000,
  drainMs: 10_000,
  keepDoneMs: 7 * 86_400_000,
}

const PURGE_EVERY = 3_600_000
/** Milliseconds of a job that is postponed: a quarter of its age, between these. */
const LEAST_POSTPONED = 1_000
const MOST_POSTPONED = 60_000
/** Milliseconds that a job is postponed until the log says what it waits for; again in each hour. */
const LONG_POSTPONED = 300_000
const LOGGED_EVERY = 3_600_000

export interface QueueLogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly value?: { readonly [key: string]: string | number }
  readonly run?: string
  readonly blueprint?: string
  readonly block?: string
}

export interface QueueOptions {
  readonly jobs: Jobs
  readonly queues: Pick<Queues, 'purge'>
  /** While this node is not alive, nothing is claimed: it may know neither the flows of a job nor that they are gone. */
  readonly cluster: Pick<Cluster, 'alive'> | undefined
  /**
   * Does one job. Should end soon when the signal is aborted. What it throws is a failed attempt. Gives `ended` where it has
   * ended the job in its own transaction.
   */
  readonly runJob: (job: Job, signal: AbortSignal) => Promise<'ended' | undefined>
  /** Told before a job becomes a dead letter, and again if that cannot be stored; of one whose worker is gone, after it. */
  readonly died?: (job: Job, error: unknown) => Promise<void>
  /** The run that failed with what `runJob` threw. */
  readonly failedIn?: (error: unknown) => FailedIn | undefined
  readonly clock: Clock
  readonly random: Random
  /** The process's, if not given. */
  readonly timers?: Timers
  readonly settings?: Partial<WorkerSettings>
  readonly log: (entry: QueueLogEntry) => void
}

export interface Queue {
  /** Name of this worker in its jobs' leases. */
  readonly owner: string
  /** How many jobs are running here. */
  readonly running: number
  /** Looks for jobs that are due. The worker does it by itself; a test that moves the clock calls it. */
  check(): void
  /** Drains. Resolves when nothing is claimed any more. */
  close(): Promise<void>
}

/** Begins to run jobs. */
export function openQueue(options: QueueOptions): Queue {
  return new QueueWorker(options)
}

interface RunningJob {
  readonly job: Job
  readonly stop: AbortController
  /** Resolves when its end is stored, or need not be stored. */
  readonly ended: Promise<void>
  leaseUntil: number
  /** Undefined while the job's own end counts. */
  fate: 'lost' | 'overdue' | 'handed back' | undefined
}

class QueueWorker implements Queue {
  readonly owner: string
  readonly #options: QueueOptions
  readonly #settings: WorkerSettings
  readonly #running = new Set<RunningJob>()
  readonly #timers: Timers
  readonly #repeating: readonly Timer[]
  readonly #unlisten: () => void
  #mode: WorkerMode = 'idle'
  /** The claims under way, or the last ones. */
  #claims: Promise<void> = Promise.resolve()
  /** Whether the last claim failed: told once, not every second. */
  #failing = false
  #closed: Promise<void> | undefined
  #ending = false
  /** When the log said that jobs wait for a blueprint, by its guid. */
  readonly #loggedOf = new Map<string, number>()
  /** Renewals and purges under way: the storage may be closed only after them. */
  readonly #errands = new Set<Promise<void>>()

  constructor(options: QueueOptions) {
    this.#options = options
    this.#settings = { ...usual, ...options.settings }
    this.owner = guidSource(options.clock, options.random)()
    this.#unlisten = options.jobs.onEnqueued(() => this.#pump())
    const { pollMs, leaseMs } = this.#settings
    this.#timers = options.timers ?? processTimers
    this.#repeating = [
      this.#timers.every(pollMs, () => this.#pump()),
      this.#timers.every(leaseMs / 3, () => this.#errand(this.#renew())),
      this.#timers.every(PURGE_EVERY, () => this.#errand(this.#purge())),
    ]
    for (const timer of this.#repeating) timer.unref()
    this.#pump()
  }

  get running(): number {
    return this.#running.size
  }

  check(): void {
    this.#pump()
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain()
    return this.#closed
  }

  /** The only place where the mode changes. */
  #to(mode: WorkerMode): void {
    this.#mode = nextMode('The queue worker', workerTransitions, this.#mode, mode)
  }

  /** Asks for jobs, now or behind the claim that is under way. */
  #pump(): void {
    switch (this.#mode) {
      case 'idle':
        this.#to('claiming')
        this.#claims = this.#claim()
        return
      case 'claiming':
        this.#to('claiming again')
    }
  }

  /** Jobs that end in the same turn of the event loop leave their room to one claim. */
  #pumpSoon(): void {
    if (this.#ending) return
    this.#ending = true
    this.#timers.soon(() => {
      this.#ending = false
      this.#pump()
    })
  }

  async #claim(): Promise<void> {
    await this.#claimOnce()
    while (this.#mode === 'claiming again') {
      this.#to('claiming')
      await this.#claimOnce()
    }
    if (this.#mode === 'claiming') this.#to('idle')
  }

  async #claimOnce(): Promise<void> {
    const { jobs, clock } = this.#options
    const { concurrency, leaseMs } = this.#settings
    const limit = concurrency - this.#running.size
    if (limit <= 0 || this.#isFenced()) return
    try {
      const leaseUntil = clock() + leaseMs
      const died = (job: Job) => this.#errand(this.#reportDead(job))
      const claimed = await jobs.claim({ owner: this.owner, leaseMs, limit, rooms: this.#rooms(), died })
      this.#failing = false
      if (this.#isClaiming() && !this.#isFenced()) for (const job of claimed) this.#start(job, leaseUntil)
      else await jobs.release(claimed)
    } catch (error) {
      if (!this.#failing) this.#log('error', 'Jobs cannot be claimed', error)
      this.#failing = true
    }
  }

  /** What queues with a limit of their own have left. */
  #rooms(): ReadonlyMap<string, number> {
    const rooms = new Map(this.#settings.queues)
    if (rooms.size === 0) return rooms
    for (const { job } of this.#running) {
      const room = rooms.get(job.queue)
      if (room !== undefined) rooms.set(job.queue, room - 1)
    }
    return rooms
  }

  #isClaiming(): boolean {
    return this.#mode === 'claiming' || this.#mode === 'claiming again'
  }

  #isFenced(): boolean {
    return this.#options.cluster?.alive() === false
  }

  #start(job: Job, leaseUntil: number): void {
    // Its lease ran out and no other worker was faster, as after a pause of the whole process.
    for (const former of this.#running) if (former.job.guid === job.guid) this.#lose(former)
    const stop = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    const running: RunningJob = { job, stop, ended: promise, leaseUntil, fate: undefined }
    this.#running.add(running)
    this.#run(running)
      .catch((error: unknown) => this.#log('error', `The end of job ${job.guid} could not be stored`, error))
      .finally(() => {
        this.#running.delete(running)
        resolve()
        this.#pumpSoon()
      })
  }

  async #run(running: RunningJob): Promise<void> {
    const { job, stop } = running
    const { runJob, jobs } = this.#options
    const { deadlineMs, graceMs } = this.#settings
    const deadline = this.#timers.after(deadlineMs, () => {
      running.fate ??= 'overdue'
      stop.abort(new Error(`The job took longer than ${deadlineMs / 1000} seconds and was stopped.`))
    })
    const { signal } = stop
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => pause(this.#timers, graceMs).then(resolve), { once: true })
    })
    let failure: unknown
    try {
      if ((await Promise.race([runJob(job, signal), stopped])) === 'ended') return
      if (signal.aborted) failure = signal.reason
    } catch (error) {
      failure = running.fate === 'overdue' ? signal.reason : (error ?? new Error('The job failed.'))
    } finally {
      deadline.end()
    }
    if (running.fate === 'lost' || running.fate === 'handed back') return
    if (failure instanceof JobContinues) {
      if (failure instanceof JobPostponed) this.#logPostponed(job, failure)
      await jobs.release([job], failure instanceof JobPostponed ? this.#postponedTo(job) : undefined)
      return
    }
    const isStored = await (failure === undefined ? jobs.complete(job) : this.#fail(job, failure))
    if (!isStored)
      this.#log('warn', `The lease of job ${job.guid} was lost before it ended; its end does not count`)
  }

  #postponedTo({ created }: Job): number {
    const now = this.#options.clock()
    return now + Math.min(Math.max(Math.round((now - created) / 4), LEAST_POSTPONED), MOST_POSTPONED)
  }

  /** Once an hour for all jobs of a blueprint: each comes back every minute. */
  #logPostponed({ created }: Job, { message, blueprint }: JobPostponed): void {
    const now = this.#options.clock()
    if (now - created < LONG_POSTPONED) return
    if (now - (this.#loggedOf.get(blueprint) ?? Number.NEGATIVE_INFINITY) < LOGGED_EVERY) return
    this.#loggedOf.set(blueprint, now)
    const since = new Date(created).toISOString()
    const reported = `${message} It is there since ${since}, and others of the blueprint wait as well. Look why it could not be started, and deploy it again.`
    this.#options.log({ level: 'warn', message: reported, blueprint })
  }

  async #reportDead(job: Job): Promise<void> {
    try {
      await this.#options.died?.(job, undefined)
    } catch (error) {
      this.#log('error', `No flow was told that job ${job.guid} is dead`, error)
    }
  }

  async #fail(job: Job, error: unknown): Promise<boolean> {
    const { jobs, clock, random, log } = this.#options
    const message = error instanceof Error ? error.message : String(error)
    const lasting = error instanceof JobRefused
    const failedIn = this.#options.failedIn?.(error)
    if (!lasting && job.attempt < job.attempts)
      return jobs.fail(job, message, clock() + backOff(job.attempt, random, backOffOf(job)), failedIn)
    log({
      level: 'error',
      message: `Job "${job.title}" failed ${lasting ? 'permanently' : `${job.attempt} times`} and is dead. Look at it and requeue it, or remove it.`,
      value: { job: job.guid, queue: job.queue, error: message.slice(0, 1000) },
      ...(failedIn && loggedIn(failedIn)),
    })
    await this.#options.died?.(job, error)
    return jobs.fail(job, message, undefined, failedIn)
  }

  async #renew(): Promise<void> {
    const { jobs, clock } = this.#options
    const { leaseMs } = this.#settings
    await Promise.all(
      [...this.#running].map(async (running) => {
        const until = clock() + leaseMs
        try {
          if (await jobs.renew(running.job, leaseMs)) running.leaseUntil = until
          else this.#lose(running)
        } catch (error) {
          // Another try comes in time, or else the lease is over and others may have the job.
          if (clock() >= running.leaseUntil) this.#lose(running)
          else this.#log('warn', `The lease of job ${running.job.guid} could not be renewed`, error)
        }
      }),
    )
  }

  #lose(running: RunningJob): void {
    if (running.fate === 'handed back' || !this.#running.has(running)) return
    running.fate = 'lost'
    running.stop.abort(new Error('The job was cancelled, or another worker has taken it over.'))
  }

  async #purge(): Promise<void> {
    const { queues, clock } = this.#options
    try {
      await queues.purge(clock() - this.#settings.keepDoneMs)
    } catch (error) {
      this.#log('warn', 'Old jobs could not be deleted', error)
    }
  }

  #errand(work: Promise<void>): void {
    this.#errands.add(work)
    const over = () => this.#errands.delete(work)
    work.then(over, over)
  }

  async #drain(): Promise<void> {
    this.#to('draining')
    this.#unlisten()
    await this.#claims
    const { drainMs, graceMs } = this.#settings
    const ended = () => Promise.all([...this.#running].map((running) => running.ended))
    if (this.#running.size > 0) await this.#within(ended(), drainMs)
    this.#to('handing back')
    const left = [...this.#running].filter(({ fate }) => fate === undefined || fate === 'overdue')
    for (const running of left) {
      running.fate = 'handed back'
      running.stop.abort(new Error('Quoin is stopping; the job goes on elsewhere.'))
    }
    // Their own race ends after the same time, so this ends too.
    if (this.#running.size > 0) await this.#within(ended(), 2 * graceMs)
    for (const timer of this.#repeating) timer.end()
    await Promise.all(this.#errands)
    if (left.length > 0) {
      const count = await this.#options.jobs.release(left.map(({ job }) => job))
      this.#log('info', `${count} running jobs were handed back`)
    }
    this.#to('closed')
  }

  /** Resolves with the work, or after so many milliseconds. */
  async #within(work: Promise<unknown>, ms: number): Promise<void> {
    const over = new AbortController()
    await Promise.race([work, pause(this.#timers, ms, over.signal)])
    over.abort()
  }

  #log(level: QueueLogEntry['level'], message: string, error?: unknown): void {
    const reason = error instanceof Error ? `: ${error.message}` : ''
    this.#options.log({ level, message: `${message}${reason}.` })
  }
}

function loggedIn({ run, blueprint, block }: FailedIn) {
  return { run, blueprint, ...(block !== '' && { block }) }
}
