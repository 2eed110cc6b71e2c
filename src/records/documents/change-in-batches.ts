/**
 * A change of any number of documents, by a job: batch after batch, each a transaction that also writes how far the job has
 * come. Killed between two batches, the next attempt continues behind the last one that is committed; killed within one, that
 * one is undone and done again. So no document is changed twice, and none of a committed batch is left out.
 *
 * Documents are taken from the oldest on, up to those of the moment at which the job began, and those whose given time of creation lies
 * ahead. The job of a field takes all: its step is done when none is left. One whose change is refused (a rule, a unique value) stays as
 * it is, and is counted and named in the record.
 */

import type { Clock } from '../../shared/clock.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Query } from '../../shared/query.ts'
import { refusalOf, transactEach } from '../../storage/create-all.ts'
import type { Database, Origin } from '../../storage/database.ts'
import { type Job, JobContinues } from '../../storage/job.ts'
import { changeDocuments, matchingPage } from '../../storage/many/change-documents.ts'
import { type ManyChange, manyChangeIn } from '../../storage/many/many-change.ts'
import type { SystemLog } from '../system-log.ts'
import { type ManyPlace, manyPlace, moveOn } from './many-changes.ts'

/** How long one attempt works: well below the deadline of a job. */
const ATTEMPT_MS = 30_000
const MOST_PROBLEMS = 100
/** No clock of a node is that far ahead: what is created while the job works has an earlier time. */
const AHEAD_MS = 86_400_000

export interface BatchesOptions {
  /** With the rules of fields. */
  readonly database: Database
  readonly clock: Clock
  readonly log: Pick<SystemLog, 'write'>
}

/** Throws JobContinues when there is more to do than one attempt has time for. */
export async function changeInBatches(
  { database, clock, log }: BatchesOptions,
  job: Pick<Job, 'guid' | 'payload'>,
  origin: Origin,
  signal: AbortSignal,
): Promise<void> {
  const change = manyChangeIn(job.payload)
  if (!database.has(change.storage)) {
    const message = `The job ${job.guid} was dropped: its storage ${change.storage} does not exist any more.`
    log.write({ level: 'warn', message })
    return
  }
  const from = clock()
  const until = from + ATTEMPT_MS
  const isOfField = typeof job.payload.field === 'string'
  let limit: number | undefined
  let place = await manyPlace(database, job.guid, clock(), (session) =>
    session.count(change.storage, change.query, change.includeRemoved),
  )
  while (!place.finished) {
    signal.throwIfAborted()
    // A cancelled job is gone; its worker is told when it renews the lease, which may be some batches later.
    if (!(await database.capabilities.jobs.get(job.guid))) throw new Error('The job was cancelled.')
    if (clock() >= until) throw new JobContinues('The job continues in its next attempt.')
    const query = isOfField ? change.query : presentThen(change.query, place.began, from)
    const next = { job: job.guid, change, query, place, limit }
    ;({ place, limit } = await batch(database, origin, next))
    await yieldToEventLoop()
  }
  if (place.refused > 0) log.write(refusals(job.guid, change.storage, place))
}

interface Batch {
  readonly job: string
  readonly change: ManyChange
  /** Of the documents that the job takes. */
  readonly query: Query
  readonly place: ManyPlace
  readonly limit: number | undefined
}

async function batch(
  database: Database,
  origin: Origin,
  { job, change, query, place, limit }: Batch,
): Promise<{ readonly place: ManyPlace; readonly limit: number }> {
  const matching = { ...change, query }
  return transactEach(
    database,
    async (session, attempt) => {
      const page = await matchingPage(session, matching, { after: place.after, ...(limit && { limit }) })
      const problems: JsonObject[] = []
      let refused = 0
      const refuse = (guid: string, error: unknown) => {
        const { message } = refusalOf(error)
        refused += 1
        if (place.problems.length + problems.length < MOST_PROBLEMS) problems.push({ guid, message })
      }
      const changed = await changeDocuments(session, change, page.guids, refuse, attempt)
      const next: ManyPlace = {
        ...place,
        after: page.after,
        done: place.done + page.seen,
        changed: place.changed + changed,
        refused: place.refused + refused,
        problems: [...place.problems, ...problems],
        finished: page.after === undefined,
      }
      return { place: await moveOn(session, job, place, next), limit: page.limit }
    },
    origin,
  )
}

function presentThen(query: Query, began: number, now: number): Query {
  const times = [{ lte: began }, { gt: now + AHEAD_MS }]
  const queries = times.map((bounds): Query => ({ kind: 'range', field: '_meta.cms', bounds }))
  return { kind: 'and', queries: [query, { kind: 'or', queries }] }
}

function refusals(job: string, storage: string, { refused, problems }: ManyPlace) {
  const value = { refused, problems: problems.slice(0, 10) }
  return {
    level: 'warn',
    message: `The job ${job} left out ${refused.toLocaleString('en-US')} documents of ${storage} whose change was refused.`,
    value,
  } as const
}
