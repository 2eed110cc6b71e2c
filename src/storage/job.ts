/**
 * Work that is done later: what Quoin asks of a database for its queue.
 *
 * Words
 * - job: one piece of work, a row of one table. Enqueued in the session's transaction, so that a document and the jobs
 *   it causes are durable together or not at all.
 * - owner: the worker that runs a job. It holds a lease; when the lease runs out, others may take the job over.
 * - attempt: counts how often the job was begun. Owner and attempt together are the fencing token: a worker that lost
 *   the lease can no longer renew, complete or fail the job.
 * - live: waiting or running.
 *
 * Life of a job
 * - waiting: until `runAt`, and until no earlier live job has its order key. Claimed: running, with `attempt` one higher.
 * - running: completed → done. Failed with a time → waiting until then. Failed without → dead. Released → waiting, and
 *   the attempt does not count. Its lease runs out → waiting at once, or dead if that was the last attempt.
 * - A new job can be dead at once: what failed was no job, and a person decides whether it is done again.
 * - done: kept for a while to be looked at, then purged.
 * - dead: a dead letter. Kept until a caller requeues it (waiting, with all its attempts again) or cancels it.
 * - `cancel` deletes a job in any state; a worker that is running it finds out when it renews.
 *
 * Order of claims: queues take turns, so that a long one does not keep the others from running; within a queue the
 * higher priority, then the earlier `runAt`, then the order of enqueueing. A paused queue gives nothing, and one with a
 * concurrency never has more jobs running than that, in the whole cluster.
 */
import { invalidField, QuoinError } from '../shared/errors.ts'
import { isLargerThan, type JsonObject, jsonProblem } from '../shared/json.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'

export const jobKinds = ['function', 'event', 'tick', 'change', 'wait', 'failure'] as const
export type JobKind = (typeof jobKinds)[number]

export const jobStates = ['waiting', 'running', 'done', 'dead'] as const
export type JobState = (typeof jobStates)[number]

/** Queues of Quoin itself: what observers of storages enqueue, and ticks of schedules. */
export const eventQueue = '_events'
export const scheduleQueue = '_schedules'
/** Of flows that are told of failures. */
export const failureQueue = '_failures'
/** Of runs that wait for a time, or continue after a wait. */
export const waitQueue = '_waits'
/** Calls of the webhooks of alerts. */
export const alertQueue = '_alerts'

/** Thrown by work that has more to do than the deadline of one attempt allows: it is claimed again, and no attempt counts. */
export class JobContinues extends Error {}

/** Thrown by work that this node cannot do yet: it is claimed again after a pause that grows with its age, and no attempt counts. */
export class JobPostponed extends JobContinues {
  /** That it waits for. */
  readonly blueprint: string

  constructor(message: string, blueprint: string) {
    super(message)
    this.blueprint = blueprint
  }
}

/** Thrown by work that no further attempt can do: the job is a dead letter at once, with this message. */
export class JobRefused extends Error {}

/** How often a job is tried, and when again. */
export interface JobRetries {
  /** How often it is tried at most, 1 to 100. 3 if not given. */
  readonly attempts?: number | undefined
  /** Milliseconds before the second attempt; each further pause is twice as long. A second if not given. */
  readonly backOff?: number | undefined
}

export interface NewJob extends JobRetries {
  /** See {@link queueNameProblem}. */
  readonly queue: string
  readonly kind: JobKind
  /** For people: at most 200 characters, what is longer is cut. */
  readonly title: string
  /** At most 1 MiB as text. */
  readonly payload: JsonObject
  /** Milliseconds; now if not given. */
  readonly runAt?: number | undefined
  /** Higher first, −1000 to 1000. 0 if not given. */
  readonly priority?: number | undefined
  /** Unique among live jobs, of all queues: at most 512 characters. */
  readonly dedupeKey?: string | undefined
  /** Jobs with the same one run one after the other, in the order of enqueueing, until each is done or dead. */
  readonly orderKey?: string | undefined
  /** A flow or a request asks for it: refused in a space that has as many jobs as it may. Quoin's own work is stored all the same. */
  readonly requested?: boolean
  /** It is a dead letter from the beginning. */
  readonly dead?: { readonly error: string; readonly failedIn: FailedIn } | undefined
}

/** Who holds which job: the fencing token. A {@link Job} is one. */
export interface JobLease {
  readonly guid: string
  readonly owner: string
  readonly attempt: number
}

/** Guids of a run that failed, of its blueprint, and of the block as it is drawn; '' where no block failed. */
export interface FailedIn {
  readonly run: string
  readonly blueprint: string
  readonly block: string
}

/** All times are milliseconds. */
export interface Job extends JobLease {
  readonly queue: string
  readonly kind: JobKind
  readonly title: string
  readonly payload: JsonObject
  readonly runAt: number
  readonly priority: number
  readonly attempts: number
  readonly dedupeKey?: string
  readonly orderKey?: string
  readonly state: JobState
  /** How often it was begun; 1 while it runs for the first time. */
  readonly attempt: number
  readonly created: number
  /** When its state last changed. */
  readonly updated: number
  /** When it was last begun; null = never. */
  readonly started: number | null
  /** When it became done or dead. */
  readonly finished: number | null
  /** Until when the owner has it, while it is running; else 0. */
  readonly leaseUntil: number
  /** Who runs it, or ran it last if it is done or dead; empty while it waits. */
  readonly owner: string
  /** Why the last attempt failed. */
  readonly lastError: string | null
  /** The run in which the last attempt failed; null where it failed without one. */
  readonly failedIn: FailedIn | null
  /** Raised by each change but a renewal. */
  readonly version: number
}

/** A job as lists show it. */
export type JobSummary = Omit<Job, 'payload'>

export interface QueueState {
  readonly name: string
  readonly paused: boolean
  /** Most jobs of it that run at once in the cluster; null = as many as workers have room for. */
  readonly concurrency: number | null
  /** How many are live but not running; those that wait for their time or their turn included. */
  readonly waiting: number
  readonly running: number
  readonly done: number
  readonly dead: number
  /** Since when (milliseconds) the job that is due longest has been due; null when none is. */
  readonly oldest: number | null
}

export interface QueueSettings {
  readonly paused?: boolean | undefined
  readonly concurrency?: number | null | undefined
}

export interface Claim {
  readonly owner: string
  readonly leaseMs: number
  /** Most jobs to give. */
  readonly limit: number
  /** Most jobs to give of these queues. */
  readonly rooms?: ReadonlyMap<string, number>
  /** Told of jobs that this claim has found dead, because the lease of their last attempt had run out. */
  readonly died?: (job: Job) => void
}

/** Each resolves when what it changed is durable. */
export interface Jobs {
  /** Takes jobs that are due, and those whose lease has run out. Costs one read when there are none. */
  claim(claim: Claim): Promise<readonly Job[]>
  /** False when the lease is lost. */
  renew(lease: JobLease, leaseMs: number): Promise<boolean>
  complete(lease: JobLease): Promise<boolean>
  /** Tried again at `retryAt` (milliseconds); dead if not given. The message is cut at 4,000 characters. */
  fail(lease: JobLease, message: string, retryAt?: number, failedIn?: FailedIn): Promise<boolean>
  /** Hands jobs back as if they had not been claimed; due `later` (milliseconds) if given. Gives how many were still the owner's. */
  release(leases: readonly JobLease[], later?: number): Promise<number>
  get(guid: string): MaybePromise<Job | undefined>
  /** By guid, of those that there are. One read. */
  states(guids: readonly string[]): MaybePromise<ReadonlyMap<string, JobState>>
  /** Fields: {@link jobFields}; no free text. Newest first unless sorted. Throws INVALID_QUERY. */
  search(search: Search): MaybePromise<RecordPage<JobSummary>>
  /** Gives a dead job all its attempts again, due now. Throws CONFLICT if it is not dead, or its dedupe key is taken. */
  requeue(guid: string): Promise<Job | undefined>
  /** Deletes a job. Gives what it was. `unbegun`: only one that waits, and no attempt of which was begun. */
  cancel(guid: string, only?: { readonly unbegun: boolean }): Promise<Job | undefined>
  /** Told soon after each commit of this process that may have given workers something to do. Gives a function that ends it. */
  onEnqueued(listener: () => void): () => void
}

/** The queues that jobs stand in, for administrators and for tidying up. */
export interface Queues {
  /** Queues that have jobs or settings, by name. */
  list(): MaybePromise<readonly QueueState[]>
  /** Makes the queue if it does not exist. */
  configure(queue: string, settings: QueueSettings): Promise<QueueState>
  /** Deletes jobs that were done before this time (milliseconds), and queues without jobs and settings. Gives how many jobs. */
  purge(doneBefore: number): Promise<number>
}

export interface JobField {
  readonly name: string
  readonly type: 'string' | 'number'
}

/** What jobs can be searched by, named as the API shows them. Times are Unix seconds; 0 and '' where a job has none. */
export const jobFields: readonly JobField[] = [
  ...['queue', 'type', 'status', 'title', 'worker_id', 'dedupe_key', 'order_key', '_meta.guid'].map(
    (name) => ({
      name,
      type: 'string' as const,
    }),
  ),
  ...['priority', 'attempts', 'max_attempts', 'scheduled_for', 'started_at', 'completed_at'].map((name) => ({
    name,
    type: 'number' as const,
  })),
  ...['_meta.created', '_meta.updated', '_meta.cms', '_meta.ums'].map((name) => ({
    name,
    type: 'number' as const,
  })),
]

const LONGEST_TITLE = 200
const LONGEST_KEY = 512
const LONGEST_ERROR = 4000
const LARGEST_PAYLOAD = 1024 * 1024

/** What is wrong with a queue's name, in words that finish "the queue name …", or undefined. */
export function queueNameProblem(name: string): string | undefined {
  return /^[a-z0-9_-]{1,63}$/.test(name) ? undefined : 'must be 1 to 63 characters of a–z, 0–9, _ and -'
}

/** Throws INVALID_BODY for a name that no queue can have, and for a concurrency that means nothing. */
export function checkQueue(queue: string, { concurrency }: QueueSettings): void {
  const problem = queueNameProblem(queue)
  if (problem) throw new QuoinError('INVALID_BODY', `The queue name ${JSON.stringify(queue)} ${problem}.`)
  if (typeof concurrency === 'number' && !(Number.isSafeInteger(concurrency) && concurrency >= 1))
    throw invalidField('concurrency', 'concurrency must be a whole number from 1, or null for no limit.')
}

/** A new job with everything filled in, as both engines store it. */
export interface CheckedJob {
  readonly queue: string
  readonly kind: JobKind
  readonly title: string
  /** JSON. */
  readonly payload: string
  readonly runAt: number
  readonly priority: number
  readonly attempts: number
  readonly dedupeKey: string | null
  readonly orderKey: string | null
  /** Of a dead letter; `failedIn` as JSON. */
  readonly dead: { readonly error: string; readonly failedIn: string } | undefined
}

/** Throws INVALID_BODY, naming the field: blocks make jobs from what visitors send. */
export function checkJob(job: NewJob, now: number): CheckedJob {
  const { queue, kind, title, runAt = now, priority = 0, attempts = 3, dedupeKey, orderKey, dead } = job
  const nameProblem = queueNameProblem(queue)
  if (nameProblem) throw invalidField('queue', `The queue name ${JSON.stringify(queue)} ${nameProblem}.`)
  const { backOff } = job
  const payload = payloadText(backOff === undefined ? job.payload : { ...job.payload, back_off: backOff })
  whole('runAt', runAt, 0, Number.MAX_SAFE_INTEGER)
  whole('priority', priority, -1000, 1000)
  whole('attempts', attempts, 1, 100)
  return {
    queue,
    kind,
    title: storable(title, LONGEST_TITLE),
    payload,
    runAt,
    priority,
    attempts,
    dedupeKey: key('dedupeKey', dedupeKey),
    orderKey: key('orderKey', orderKey),
    dead: dead && { error: errorText(dead.error), failedIn: JSON.stringify(dead.failedIn) },
  }
}

/** Milliseconds before the second attempt; undefined where the job says nothing. */
export function backOffOf({ payload }: Pick<Job, 'payload'>): number | undefined {
  const { back_off: backOff } = payload
  return typeof backOff === 'number' && backOff > 0 ? backOff : undefined
}

/** Why a job failed, as it is stored. */
export function errorText(message: string): string {
  return storable(message, LONGEST_ERROR)
}

function storable(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replaceAll('\u0000', '\ufffd')
}

function payloadText(payload: JsonObject): string {
  const tooLarge = () =>
    invalidField('payload', 'The payload is larger than 1 MiB. Store a document and send its guid.')
  // Two bytes are the least that a value takes. A flow can put more together than could be written out.
  if (isLargerThan(payload, LARGEST_PAYLOAD / 2, LARGEST_PAYLOAD)) throw tooLarge()
  const problem = jsonProblem(payload)
  if (problem) throw invalidField('payload', `The payload ${problem}.`)
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > LARGEST_PAYLOAD) throw tooLarge()
  return text
}

function whole(field: string, value: number, least: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw invalidField(field, `${field} must be a whole number from ${least} to ${most}.`)
}

/** An empty key is none: a flow that leaves the pin empty wants none. */
function key(field: string, text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  const problem = text.length > LONGEST_KEY ? `is longer than ${LONGEST_KEY} characters` : jsonProblem(text)
  if (problem) throw invalidField(field, `${field} ${problem}.`)
  return text
}
