import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { checkSendingAgain, isRequestJob } from '../../../flows/background/dead-letter-requests.ts'
import type { QueueSteering } from '../../../flows/background/queue-steering.ts'
import { manyProgress } from '../../../records/documents/many-changes.ts'
import {
  jobSchema,
  jobSummarySchema,
  queueNameParams,
  queueSchema,
  requeueSchema,
  updateQueueSchema,
} from '../../../shared/api/operate/queues.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { type SearchBody, searchQuerySchema, searchSchema } from '../../../shared/api/search.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { Database } from '../../../storage/database.ts'
import { type Job, type JobSummary, jobFields, type QueueState } from '../../../storage/job.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, searchReply } from '../search-reply.ts'
import { searchBodyFromQuery, searchRequest } from '../search-request.ts'

const tags = ['Queue']

const searched = {
  tags,
  description:
    'Newest first. Dead letters have the status `dead`. The data of a job is omitted: read one job for it.',
  response: { 200: Type.Array(jobSummarySchema) },
}

/**
 * What waits, runs, was done and died, and how to steer it. `entity`: the cluster's number. `steering`: how changes are
 * made, so that they are audited.
 */
export function queueRoutes(database: Database, entity: number, steering: QueueSteering): RouteFamily {
  const shared = sharedParts(database, entity, steering)
  return (app) => {
    listJobsRoute(app, shared)
    searchJobsRoute(app, shared)
    getJobRoute(app, shared)
    requeueJobRoute(app, shared)
    removeJobRoute(app, shared)
    listQueuesRoute(app, shared)
    updateQueueRoute(app, shared)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(database: Database, entity: number, steering: QueueSteering) {
  const { jobs, queues } = database.capabilities
  const searchJobs = async (body: SearchBody, reply: FastifyReply) => {
    const page = await jobs.search(searchRequest(body, jobFields))
    const records = page.records.map((job) => summaryRecord(job, entity))
    return searchReply(reply, body, { ...page, records })
  }
  return { database, entity, steering, jobs, queues, searchJobs }
}

function listJobsRoute(app: App, { searchJobs }: SharedParts): void {
  app.get(
    '/queue/search',
    {
      config: { permission: 'queue_view' },
      schema: {
        operationId: 'listJobs',
        summary: 'List jobs',
        ...searched,
        querystring: searchQuerySchema,
      },
    },
    (request, reply) => searchJobs(searchBodyFromQuery(request.query), reply),
  )
}

function searchJobsRoute(app: App, { searchJobs }: SharedParts): void {
  app.post(
    '/queue/search',
    {
      config: { permission: 'queue_view', bodyOptional: true },
      schema: { operationId: 'searchJobs', summary: 'Search jobs', ...searched, body: searchSchema },
    },
    (request, reply) => searchJobs(request.body, reply),
  )
}

function getJobRoute(app: App, { jobs, database, entity }: SharedParts): void {
  app.get(
    '/queue/:guid',
    {
      config: { permission: 'queue_view' },
      schema: {
        operationId: 'getJob',
        summary: 'One job, with its data',
        tags,
        params: guidParams,
        response: { 200: jobSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      const job = found(await jobs.get(guid), guid)
      const progress = job.kind === 'change' ? await manyProgress(database, guid) : undefined
      return {
        ...jobRecord(job, entity),
        ...(progress && { progress: { ...progress, problems: [...progress.problems] } }),
      }
    },
  )
}

function requeueJobRoute(app: App, { jobs, steering, entity }: SharedParts): void {
  app.post(
    '/queue/:guid/requeue',
    {
      config: { permission: 'queue_update', bodyOptional: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'requeueJob',
        summary: 'Run a dead letter again',
        description:
          'It becomes due immediately, with all its attempts. A request that failed behind its reply is sent again on the deployed version: without `repeat`, one whose run has done something that stays is refused with 409, which lists that.',
        tags,
        params: guidParams,
        body: requeueSchema,
        response: { 200: jobSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      const job = await jobs.get(guid)
      if (job?.state === 'dead' && isRequestJob(job)) checkSendingAgain(job, request.body.repeat === true)
      return jobRecord(found(await steering.requeue(guid, actorOf(request)), guid), entity)
    },
  )
}

function removeJobRoute(app: App, { steering }: SharedParts): void {
  app.delete(
    '/queue/:guid',
    {
      config: { permission: 'queue_remove' },
      schema: {
        operationId: 'removeJob',
        summary: 'Cancel or remove a job',
        description:
          'A waiting job will not run. A running one is asked to stop within a few seconds; its committed writes stay.',
        tags,
        params: guidParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      found(await steering.cancel(guid, actorOf(request)), guid)
      return { guid, removed: true } as const
    },
  )
}

function listQueuesRoute(app: App, { queues }: SharedParts): void {
  app.get(
    '/queues',
    {
      config: { permission: 'queue_view' },
      schema: {
        operationId: 'listQueues',
        summary: 'List queues, with their waiting jobs',
        tags,
        response: { 200: Type.Array(queueSchema) },
      },
    },
    async () => (await queues.list()).map(queueRecord),
  )
}

function updateQueueRoute(app: App, { steering }: SharedParts): void {
  app.put(
    '/queues/:name',
    {
      config: { permission: 'queue_update' },
      schema: {
        operationId: 'updateQueue',
        summary: 'Pause or resume a queue, or limit its simultaneous jobs',
        description: 'Changes the given fields, on every node. Creates the queue if it does not exist.',
        tags,
        params: queueNameParams,
        body: updateQueueSchema,
        response: { 200: queueSchema },
      },
    },
    async (request) =>
      queueRecord(await steering.configure(request.params.name, request.body, actorOf(request))),
  )
}

function found(job: Job | undefined, guid: string): Job {
  if (job === undefined) throw new QuoinError('NOT_FOUND', `There is no job with the guid ${guid}.`)
  return job
}

const seconds = (ms: number | null) => Math.floor((ms ?? 0) / 1000)

function jobRecord(job: Job, entity: number): Static<typeof jobSchema> {
  return { ...summaryRecord(job, entity), data: job.payload }
}

function summaryRecord(job: JobSummary, entity: number): Static<typeof jobSummarySchema> {
  return {
    _meta: {
      guid: job.guid,
      entity,
      created: seconds(job.created),
      updated: seconds(job.updated),
      cms: job.created,
      ums: job.updated,
      removed: 0,
      expiry: -1,
      update_hash: createHash('sha256').update(`${job.guid} ${job.version}`).digest('hex').slice(0, 32),
    },
    queue: job.queue,
    type: job.kind,
    status: job.state,
    title: job.title,
    priority: job.priority,
    attempts: job.attempt,
    max_attempts: job.attempts,
    scheduled_for: seconds(job.runAt),
    started_at: seconds(job.started),
    completed_at: seconds(job.finished),
    leased_until: seconds(job.leaseUntil),
    error: job.lastError,
    failed_in: job.failedIn,
    worker_id: job.owner,
    dedupe_key: job.dedupeKey ?? '',
    order_key: job.orderKey ?? '',
  }
}

function queueRecord(queue: QueueState): Static<typeof queueSchema> {
  const { name, paused, concurrency, waiting, running, done, dead, oldest } = queue
  return {
    name,
    paused,
    concurrency,
    depth: waiting,
    running,
    done,
    dead,
    oldest: oldest === null ? null : seconds(oldest),
  }
}
