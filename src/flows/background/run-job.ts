/**
 * Runs jobs: each job starts a run of its own on the blueprints that are active now, without a request, for the user who
 * caused it.
 *
 * An error is a failed attempt, which the queue retries. So is a function that no active blueprint has: a flow called it
 * by name, and a builder may still activate its blueprint. An event or a tick of a trigger that is no longer active counts
 * as done, and the system log says that it was dropped. What is active says the record of the blueprint: a node that does not serve
 * it as it is deployed, because it has not come to it yet or could not start it, postpones the job.
 */
import { isAlertJob } from '../../records/alerts/alert-job.ts'
import { changeInBatches } from '../../records/documents/change-in-batches.ts'
import { isMailJob } from '../../records/mail/mail-job.ts'
import { type Actor, findRecords, SYSTEM } from '../../records/records.ts'
import { type Pause, pauses, runCooperatively } from '../../shared/cooperative.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { type Job, type JobLease, JobPostponed } from '../../storage/job.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { Flows } from '../flows.ts'
import { flowsOf } from '../live/versions.ts'
import { eventInput, originIn } from '../run/job-payload.ts'
import type { FormerCaller, RunStart } from '../run/run-start.ts'
import { isLookJob } from '../run/store-wait.ts'
import { type WaitRecord, waitRecordOf } from '../run/wait-record.ts'
import type { Runs } from '../run-pipeline.ts'
import { lookForDocuments } from './awaited-documents.ts'
import { isRequestJob, requestTarget } from './dead-letter-requests.ts'
import { FailedRun } from './failed-run.ts'
import { failureIn } from './failure-listeners.ts'
import { continueMigration, endFormerFlows } from './field-migrations.ts'

interface JobRunnerOptions {
  readonly flows: Pick<Flows, 'live' | 'log' | 'records' | 'versions' | 'writeSeeds'>
  readonly runs: Pick<Runs, 'run'>
  /** A user's document without secrets; undefined when the user is no longer there. */
  readonly findUser: (guid: string) => MaybePromise<JsonObject | undefined>
  /** An active user, with what the user holds at present; undefined for one that is gone or not active. */
  readonly findActive: (guid: string) => Promise<FormerCaller | undefined>
  /** Sends the mail of a job: see `records/mail/send-mail.ts`. */
  readonly sendMail: (job: RunnableJob, signal: AbortSignal) => Promise<void>
  /** Calls the webhook of an alert: see `flows/send-alert.ts`. */
  readonly sendAlert: (job: RunnableJob, signal: AbortSignal) => Promise<void>
}

/** `owner` and `attempt`: of a job that is claimed. Without them its end is the caller's. */
type RunnableJob = Pick<Job, 'guid' | 'kind' | 'payload' | 'runAt' | 'attempts'> &
  Partial<Pick<Job, 'owner' | 'attempt'>>

/** What a job starts. */
type Target = Pick<RunStart, 'flow' | 'blueprint' | 'input' | 'resume' | 'request' | 'beforeReply'> &
  Partial<Pick<WaitTarget, 'callerScopes'>>

/**
 * Gives what runs one job: resolves when its run ended well, and rejects with the reason when it did not. `ended`: the run has
 * ended the job too, in its last commit.
 */
export function jobRunner({
  flows,
  runs,
  findUser,
  findActive,
  sendMail,
  sendAlert,
}: JobRunnerOptions): (job: RunnableJob, signal: AbortSignal) => Promise<'ended' | undefined> {
  return async (job, signal) => {
    signal.throwIfAborted()
    if (job.kind === 'change') {
      await changeFor(flows, job, signal)
      return undefined
    }
    if (job.kind === 'function') {
      const send = isMailJob(job) ? sendMail : isAlertJob(job) ? sendAlert : undefined
      if (send) {
        await send(job, signal)
        return undefined
      }
    }
    if (job.kind === 'wait' && isLookJob(job.payload)) {
      await lookForDocuments(flows.records.database, job.payload, signal)
      return undefined
    }
    const target = await targetHere(flows, job)
    if (!target && job.kind === 'wait') return undefined
    if (!target) {
      const [blueprint, block] = [textIn(job.payload.blueprint), textIn(job.payload.block)]
      const message = `The ${job.kind} ${job.guid} was dropped: its trigger is no longer active.`
      flows.log.write({ level: 'warn', message, blueprint, block })
      return undefined
    }
    const origin = originIn(job.payload)
    const user = origin.user && (await findUser(origin.user.guid))
    const { callerScopes, ...start } = target
    const caller = origin.user && callerScopes && (await formerCaller(origin.user, callerScopes, findActive))
    const request = start.request && { request: { ...start.request, ...caller?.() } }
    const lease = leaseOf(job)
    const of = { job: job.guid, ...(lease && { lease }) }
    const end = await runs.run({
      ...start,
      ...request,
      user,
      origin,
      signal,
      ...of,
      ...(caller && { caller }),
    })
    if (end.error)
      throw new FailedRun(end.run, end.error, {
        blueprint: target.blueprint,
        trigger: target.flow.trigger,
      })
    return lease && 'ended'
  }
}

async function changeFor(
  { records, log, writeSeeds }: JobRunnerOptions['flows'],
  job: RunnableJob,
  signal: AbortSignal,
): Promise<void> {
  if (job.payload.seeds !== undefined) return writeSeeds(job, signal)
  const { database, clock } = records
  const origin = { ...originIn(job.payload), run: job.guid }
  const by = origin.user ?? SYSTEM
  if (job.payload.after !== undefined) {
    await endFormerFlows(records, job, by)
    return
  }
  await changeInBatches({ database, clock, log }, job, origin, signal)
  if (job.payload.field !== undefined) await continueMigration(database, job, by)
}

function leaseOf({ guid, owner, attempt }: RunnableJob): JobLease | undefined {
  return owner === undefined || attempt === undefined ? undefined : { guid, owner, attempt }
}

/** As `targetOf`, on a node that serves what is deployed of the job's blueprint. Throws JobPostponed on another one. */
async function targetHere(flows: JobRunnerOptions['flows'], job: RunnableJob): Promise<Target | undefined> {
  try {
    const target = await targetOf(flows, job)
    if (target || job.kind === 'wait') return target
  } catch (error) {
    await postponeUnserved(flows, job)
    throw error
  }
  await postponeUnserved(flows, job)
  // It may have come since.
  return targetOf(flows, job)
}

/** Throws JobPostponed where a blueprint is active and not served as it is deployed: its own, or for a function one that has it. */
async function postponeUnserved(
  { live, records }: JobRunnerOptions['flows'],
  { kind, guid, payload }: RunnableJob,
): Promise<void> {
  const session = records.database.session()
  const isLate = (record: JsonObject) =>
    record.active === true &&
    numberIn(record.version) !== live.table().blueprints.get(guidOf(record))?.deployment
  const postponed = (record: JsonObject) =>
    new JobPostponed(
      `The ${kind} ${guid} waits: its blueprint is active, and this node does not serve it as deployed.`,
      guidOf(record),
    )
  const stored = await session.get(systemStorages.blueprints, textIn(payload.blueprint))
  const own = stored && documentOf(stored)
  if (own && isLate(own)) throw postponed(own)
  if (kind !== 'function') return
  const pause = pauses()
  const active = { kind: 'term', field: 'active', value: true } as const
  for (const record of await findRecords(session, systemStorages.blueprints, active, pause))
    if (isLate(record) && (await hasFunction(session, record, textIn(payload.function), pause)))
      throw postponed(record)
}

/** Looked up in the blocks as they are stored: they may be none that this node can compile. */
async function hasFunction(
  session: Session,
  { deployment_guid: guid }: JsonObject,
  name: string,
  pause: Pause,
): Promise<boolean> {
  const stored = await session.get(systemStorages.deployments, textIn(guid))
  if (!stored) return false
  await runCooperatively(stored.inSteps(), pause)
  return objectsIn(documentOf(stored).blocks).some(
    ({ type, fields }) =>
      type === 'trigger_custom_function' && isJsonObject(fields) && textIn(fields.name).trim() === name,
  )
}

function targetOf(flows: JobRunnerOptions['flows'], job: RunnableJob): MaybePromise<Target | undefined> {
  switch (job.kind) {
    case 'function':
      return functionTarget(flows, job)
    case 'event':
      return eventTarget(flows, job)
    case 'tick':
      return tickTarget(flows, job)
    case 'wait':
      return waitTarget(flows, job)
    case 'failure':
      return failureTarget(flows, job)
    case 'change':
      return undefined
  }
}

/** The function of the blueprint that asked, else of any other: the run is then the other's. */
function functionTarget({ live }: JobRunnerOptions['flows'], { guid, payload }: RunnableJob): Target {
  if (isRequestJob({ payload })) return requestTarget({ live }, { payload })
  const name = textIn(payload.function)
  const { blueprints } = live.table()
  const asked = textIn(payload.blueprint)
  const owner = [blueprints.get(asked), ...blueprints.values()].find((one) =>
    one?.compiled.functions.has(name),
  )
  const compiled = owner?.compiled.functions.get(name)
  if (!owner || !compiled)
    throw new Error(`There is no custom function named ${JSON.stringify(name)} in an active blueprint.`)
  const parameters = isJsonObject(payload.parameters) ? payload.parameters : {}
  // For functions with an out-pin `job`: at least once means that they may have to tell repeats apart.
  const input = compiled.start({ job: guid, ...parameters })
  return { flow: compiled.flow, blueprint: owner.compiled.guid, input }
}

async function eventTarget(flows: JobRunnerOptions['flows'], job: RunnableJob): Promise<Target | undefined> {
  const blueprint = textIn(job.payload.blueprint)
  const block = textIn(job.payload.block)
  const live = flows.live.table().blueprints.get(blueprint)
  const trigger = live?.compiled.storageEvents.find((one) => one.block === block)
  if (!trigger) return undefined
  const input = trigger.start(await eventInput(flows.records.database, job))
  return { flow: trigger.flow, blueprint, input }
}

function tickTarget(
  { live }: JobRunnerOptions['flows'],
  { guid, payload, runAt }: RunnableJob,
): Target | undefined {
  const blueprint = textIn(payload.blueprint)
  const block = textIn(payload.block)
  const found = live.table().blueprints.get(blueprint)
  const trigger = found?.compiled.schedules.find((one) => one.block === block)
  if (!trigger) return undefined
  const plannedAt = new Date(typeof payload.planned_at === 'number' ? payload.planned_at : runAt)
  const input = trigger.start({ plannedAt, tick: guid })
  return { flow: trigger.flow, blueprint, input }
}

function failureTarget({ live }: JobRunnerOptions['flows'], { payload }: RunnableJob): Target | undefined {
  const blueprint = textIn(payload.blueprint)
  const block = textIn(payload.block)
  const found = live.table().blueprints.get(blueprint)
  const trigger = found?.compiled.failureEvents.find((one) => one.block === block)
  const failure = failureIn(payload)
  if (!trigger || !failure) return undefined
  return { flow: trigger.flow, blueprint, input: trigger.start(failure) }
}

/**
 * As whom blocks with `as: user` act behind a wait: the user of the request that the run began with, holding what that request
 * held and the user holds still. So neither an API key with few scopes nor a user who has lost one gains by waiting.
 */
async function formerCaller(
  { guid, username }: Actor,
  held: ReadonlySet<string>,
  findActive: (guid: string) => Promise<FormerCaller | undefined>,
): Promise<NonNullable<RunStart['caller']>> {
  const present = await findActive(guid)
  return () => {
    if (present) return { user: present.user, scopes: heldByBoth(held, present.scopes) }
    throw new Error(
      `The user ${username}, who began the run, is gone or not active: no block can act as this user any more.`,
    )
  }
}

function heldByBoth(former: ReadonlySet<string>, present: ReadonlySet<string>): ReadonlySet<string> {
  if (former.has('*')) return present
  return present.has('*') ? former : former.intersection(present)
}

interface WaitTarget extends Pick<RunStart, 'flow' | 'blueprint' | 'input' | 'resume'> {
  /** What the caller of the request held that the run began with; undefined where blocks act as an anonymous caller. */
  readonly callerScopes: ReadonlySet<string> | undefined
}

/**
 * The run that continues after a wait; undefined when there is nothing to do: the wait has ended, or another job goes on with
 * it. Rejects, so that the job is tried again, while the blueprint is not active or has no such block.
 */
async function waitTarget(
  flows: Pick<Flows, 'live' | 'records' | 'versions'>,
  { guid: job, payload }: Pick<Job, 'guid' | 'payload'>,
): Promise<WaitTarget | undefined> {
  const { database } = flows.records
  const session = database.session()
  const stored = await session.get(systemStorages.waits, textIn(payload.wait))
  if (!stored) return undefined
  const record = waitRecordOf(documentOf(stored))
  if (record.state === 'waiting') {
    // Its time has come. Who ends the wait from now on is told that it is over.
    const fields = setFields({ state: 'resumed', job })
    const { guid, updateHash } = record
    await transact(database, async (writing) => {
      const { outcome } = await writing.update(systemStorages.waits, guid, fields, { updateHash })
      if (outcome !== 'written') throw new Error('The wait has ended at the same time.')
    })
  } else if (record.job !== job) return undefined
  const flow = await flowOf(flows, record)
  const resume = { wait: record.guid, job, deployment: record.deployment }
  return { flow, blueprint: record.blueprint, input: {}, resume, callerScopes: record.callerScopes }
}

async function flowOf(
  { live, versions }: Pick<Flows, 'live' | 'versions'>,
  { blueprint, deployment, version, trigger, block }: WaitRecord,
) {
  const active = live.table().blueprints.get(blueprint)
  if (!active)
    throw new Error(
      'The blueprint of the run that waits is not active. Activate it, and continue the run again.',
    )
  const numbers = version === 'current' ? [0, deployment] : [deployment]
  for (const number of numbers) {
    const compiled = await versions.compiled(active, number)
    const flow = flowsOf(compiled).find((one) => one.trigger === trigger)
    if (flow?.resumePoints?.has(block)) return flow
  }
  throw new Error(
    `Version ${deployment} of the blueprint has no block ${block} that waits. End the wait, or deploy a version with the block.`,
  )
}
