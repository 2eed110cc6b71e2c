import { Type } from 'typebox'
import { anyJson, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const time = (description: string) =>
  Type.Integer({ description: `${description} Unix seconds; 0 = not yet.` })

const jobFields = {
  _meta: metaSchema,
  queue: Type.String(),
  type: Type.Enum(['function', 'event', 'tick', 'change', 'wait', 'failure'], {
    description:
      'A deferred custom function, a storage event, a tick of a schedule, a change of many documents, a run that waits, or a failure that a flow is told of.',
  }),
  status: Type.Enum(['waiting', 'running', 'done', 'dead']),
  title: Type.String(),
  priority: Type.Integer({ description: 'Higher runs first in its queue.' }),
  attempts: Type.Integer({ description: 'Number of started attempts.' }),
  max_attempts: Type.Integer(),
  scheduled_for: time('Earliest start.'),
  started_at: time('Start of the last attempt.'),
  completed_at: time('When it finished or became a dead letter.'),
  leased_until: time('End of the lease of its worker; afterwards another worker takes the job over.'),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Error of the last attempt.' }),
  failed_in: Type.Union(
    [
      Type.Object({
        run: Type.String({ description: 'Guid of the run; `GET /runs/{guid}` shows it while it is kept.' }),
        blueprint: Type.String(),
        block: Type.String({ description: 'Guid of the block that failed; empty if none did.' }),
      }),
      Type.Null(),
    ],
    { description: 'The run of the last attempt that failed; null if it failed without one.' },
  ),
  worker_id: Type.String({ description: 'Worker that runs it or ran it last; empty while it waits.' }),
  dedupe_key: Type.String({ description: 'Unique among waiting and running jobs; empty = none.' }),
  order_key: Type.String({ description: 'Jobs with the same key run one after the other; empty = none.' }),
}

/** A job in a list: without its data, which may be 1 MiB. */
export const jobSummarySchema = Type.Object(jobFields)
export type JobSummary = Wire<typeof jobSummarySchema>

const jobProgress = Type.Object(
  {
    done: Type.Integer({ description: 'Documents gone through in committed batches.' }),
    total: Type.Integer({ description: 'Documents that matched when the job began.' }),
    changed: Type.Integer(),
    refused: Type.Integer({ description: 'Documents whose change was refused; they stay as they are.' }),
    problems: Type.Array(anyJson('`guid` and `message` of a refused document.'), {
      description: 'The first 100 refused documents.',
    }),
    finished: Type.Boolean(),
  },
  { description: 'Of a job of the type `change`, once it has begun.' },
)

export const jobSchema = Type.Object({
  ...jobFields,
  data: anyJson('Data of the job, as enqueued.'),
  progress: Type.Optional(jobProgress),
})
export type Job = Wire<typeof jobSchema>

export const queueSchema = Type.Object({
  name: Type.String(),
  paused: Type.Boolean(),
  concurrency: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Maximum of simultaneous jobs in the whole cluster; null = no limit.',
  }),
  depth: Type.Integer({ description: 'Waiting jobs, delayed ones included.' }),
  running: Type.Integer(),
  done: Type.Integer({ description: 'Kept for a week.' }),
  dead: Type.Integer({ description: 'Dead letters, until they are requeued or removed.' }),
  oldest: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Due time of the oldest due job, in Unix seconds; null = none is due.',
  }),
})
export type Queue = Wire<typeof queueSchema>

export const queueNameParams = Type.Object({
  name: Type.String({ description: 'Name of a queue: 1 to 63 characters: a to z, 0 to 9, _ and -.' }),
})

export const requeueSchema = Type.Object(
  {
    repeat: Type.Optional(
      Type.Boolean({
        description:
          'Of a request that is sent again: what its run has done, and `happened` lists, may happen a second time.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const updateQueueSchema = Type.Object(
  {
    paused: Type.Optional(Type.Boolean({ description: 'Running jobs finish; no new ones start.' })),
    concurrency: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 100_000 }), Type.Null()], {
        description: 'null = no limit.',
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
)

const nullableTime = Type.Union([Type.Integer(), Type.Null()], { description: 'Unix seconds.' })

const scheduleRecord = Type.Object({
  _meta: metaSchema,
  schedule: Type.String({ description: 'Identifies the schedule in its ticks.' }),
  blueprint: Type.String(),
  block: Type.String(),
  title: Type.String(),
  cron: Type.String({ description: 'Empty if it has none.' }),
  every: Type.String({ description: 'Empty if it has none.' }),
  start_at: nullableTime,
  time_zone: Type.String(),
  overlap: Type.Enum(['skip', 'queue', 'allow']),
  catch_up: Type.Enum(['last', 'all', 'none']),
  next_at: nullableTime,
  last_at: nullableTime,
  // Records of older versions have none.
  lost_at: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description:
        'The last planned time, in Unix seconds, that passed while no node was running and was never started. Its ticks have the state `skipped`.',
    }),
  ),
})
export type Schedule = Wire<typeof scheduleRecord>
export const scheduleSchema = storedRecord(scheduleRecord)

const tickRecord = Type.Object({
  _meta: metaSchema,
  schedule: Type.String(),
  blueprint: Type.String(),
  block: Type.String(),
  planned_at: Type.Integer({ description: 'Unix seconds.' }),
  late: Type.Boolean({ description: 'No node was running at its time.' }),
  state: Type.Enum(['planned', 'claimed', 'done', 'skipped', 'caught_up', 'failed']),
  job: Type.String({ description: 'Guid of its job; empty if it had none.' }),
})
export type Tick = Wire<typeof tickRecord>
export const tickSchema = storedRecord(tickRecord)
