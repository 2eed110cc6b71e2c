import { type Static, Type } from 'typebox'
import type { JsonValue } from '../../json.ts'
import { anyJson, nullableText, storedRecord, typedJson } from '../record-schemas.ts'
import { pageParameters } from '../search.ts'
import type { Wire } from '../wire.ts'

const breakpoints = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 100,
  description: 'Guids of flow blocks before which runs pause.',
})

export const setTracingSchema = Type.Object(
  {
    on: Type.Boolean(),
    minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1440,
        description: 'Duration of tracing. Default: 15.',
      }),
    ),
    keep_last: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, description: 'Number of stored runs. Default: 50.' }),
    ),
    breakpoints: Type.Optional(breakpoints),
    record_one_in: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Record the first request of each shape and then one in so many, to be repeated on a draft; also while runs are not traced. 0: none, and delete what was recorded. Default: as it is.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const tracingSchema = Type.Object({
  on: Type.Boolean({ description: 'Whether runs are traced now.' }),
  until: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'End of tracing, in ISO 8601; null when it is off.',
  }),
  keep_last: Type.Integer({
    description: 'Number of stored runs, the newest ones, each for `QUOIN_KEEP_RUNS` hours.',
  }),
  breakpoints,
  record_one_in: Type.Integer({ description: 'One in so many requests is recorded; 0: none.' }),
})
export type Tracing = Wire<typeof tracingSchema>
export type TracingChange = Wire<typeof setTracingSchema>

/** Values by pin. */
export type PinValues = { readonly [pin: string]: JsonValue }

type RunFailure = { readonly code: string; readonly message: string; readonly block: string | null }

type RunRequest = {
  readonly method: string
  readonly path: string
  readonly query: JsonValue
  readonly params?: JsonValue
  readonly headers: JsonValue
  readonly body: JsonValue
  /** As it was sent. */
  readonly raw_body?: string
  /** By block: `valid`, or why it was refused. */
  readonly signatures?: JsonValue
}

type RunReply = { readonly status: number; readonly headers: JsonValue; readonly body: JsonValue }

/** Of a request that can be sent again. */
export type SendableRun = {
  readonly title: string
  /** Why it cannot be, where it cannot. */
  readonly cannot: string
  /** What the run has done that stays. */
  readonly happened: JsonValue
}

/** How the reply of a replay differs from the recorded one. */
export type Compared = {
  readonly status: readonly [before: number | null, after: number | null]
  readonly same: boolean
  readonly before: JsonValue
  readonly after: JsonValue
}

const summary = {
  guid: Type.String(),
  blueprint: Type.String(),
  trigger: Type.String({ description: "Guid of the trigger's block." }),
  trigger_type: Type.Enum(['http', 'page', 'function', 'storage', 'schedule', 'failure']),
  label: Type.String({ description: 'Readable name, such as `GET tasks/:id`.' }),
  status: Type.Enum(['running', 'paused', 'ended', 'failed']),
  started: Type.String({ description: 'ISO 8601.' }),
  us: Type.Integer({ description: 'Microseconds, without paused time.' }),
  reply: typedJson<{ readonly status: number } | null>('`{ status }`, or null.'),
  error: typedJson<RunFailure | null>('`{ code, message, block }` when it failed, else null.'),
  steps: Type.Integer({ description: 'Number of executed blocks; not all of them may be recorded.' }),
  user: nullableText,
  deployment: Type.Integer({ description: 'Number of the deployment; 0 for blocks that are not deployed.' }),
  replay_of: nullableText,
  recorded_as: Type.Enum(['traced', 'replay', 'tried', 'by_hand', 'failed', 'refused', 'sampled'], {
    description:
      'Why it was recorded: `traced`; `sampled`, as one of many requests, without steps; a `replay` or `tried`, whose writes were undone; started `by_hand`, for real; or it `failed` or `refused` its request (4xx) untraced, with the values that were left.',
  }),
}

/** In the order in which they are sent. */
export const runSummaryFields: readonly string[] = Object.keys(summary)

const runSummaryRecord = Type.Object(summary)
export type RunSummary = Wire<typeof runSummaryRecord>
export type RunStatus = RunSummary['status']
export const runSummarySchema = storedRecord(runSummaryRecord)

const step = Type.Object({
  seq: Type.Integer(),
  block: Type.String(),
  type: Type.String(),
  frame: Type.Integer({ description: '0 = the flow; each call of a function has a number of its own.' }),
  kind: Type.Enum(['flow', 'value', 'trigger']),
  at_us: Type.Integer({ description: 'Microseconds since the run began.' }),
  us: Type.Integer(),
  in: typedJson<PinValues>('Pin → value. A long one is `{ $cut, bytes }`.'),
  out: typedJson<PinValues>('Pin → value.'),
  expressions: Type.Optional(
    Type.Array(
      Type.Object({
        pin: Type.String(),
        text: Type.String({ description: 'The expression; of a long one the beginning.' }),
        value: anyJson('Its value.'),
        names: typedJson<PinValues>('Name → value: what the evaluation read, such as `params.limit`.'),
        error: Type.Optional(Type.String({ description: 'Why it has no value.' })),
      }),
      { description: 'Each evaluation of the expressions of its pins; absent without one.' },
    ),
  ),
  next: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Flow out-pin where the run continued.',
  }),
  error: nullableText,
  note: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Note, such as why the run did not pause here.',
  }),
})
export type Step = Wire<typeof step>

const steps = Type.Array(step, { description: 'At most 500; of each value block the first executions.' })

const runRecord = Type.Object({
  ...summary,
  request: typedJson<RunRequest | null>(
    '`{ method, path, query, params, headers, body }`; null for a run without one. Where a block checks signatures also `raw_body`, the body as it was sent (without secrets, at most 64 KiB), and `signatures`, what each check found.',
  ),
  reply: typedJson<RunReply | null>('`{ status, headers, body }`, or null.'),
  steps,
  cut: Type.Boolean({ description: 'Whether steps or values were omitted.' }),
  result: anyJson('Result of a function.'),
  compared: typedJson<Compared | null>(
    'Of a replay: `{ status: [before, after], same, before, after }`; else null.',
  ),
  send_again: typedJson<SendableRun | null>(
    'Of a request to an endpoint that was answered with a status from 500 on: `{ title, cannot, happened }`, why it cannot be sent again (empty if it can), and what the run has done that stays, each as `{ block, title, kind, count }`; else null.',
  ),
})
export type Run = Wire<typeof runRecord>
export const runSchema = storedRecord(runRecord)

const pausedRunRecord = Type.Object({
  run: Type.String(),
  blueprint: Type.String(),
  block: Type.String({ description: 'The next block.' }),
  since: Type.String(),
  until: Type.String({ description: 'When it resumes on its own, in ISO 8601.' }),
  in: typedJson<PinValues>('Inputs of the block: pin → value.'),
  steps,
})
export type PausedRun = Wire<typeof pausedRunRecord>
export const pausedRunSchema = storedRecord(pausedRunRecord)

export const runListQuery = Type.Object({
  blueprint: Type.Optional(Type.String({ maxLength: 64 })),
  trigger: Type.Optional(Type.String({ maxLength: 64, description: "Guid of the trigger's block." })),
  status: Type.Optional(Type.Enum(['running', 'paused', 'ended', 'failed'])),
  failed: Type.Optional(
    Type.Boolean({ description: 'Only runs that failed or replied with a status of 400 or more.' }),
  ),
  ...pageParameters(200),
})
export type RunListQuery = Static<typeof runListQuery>

export const ofBlueprintQuery = Type.Object({
  blueprint: Type.Optional(Type.String({ maxLength: 64, description: 'Only runs of this blueprint.' })),
})

/** Replies of blocks outside that are given in place of calls. */
const pinnedReplies = Type.Array(
  Type.Object(
    {
      block: Type.String({ maxLength: 64, description: 'Guid of a block with external effects.' }),
      run: Type.String({
        maxLength: 64,
        description: 'The recorded run of this blueprint that has its outputs.',
      }),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 50,
    description:
      'Blocks that give the outputs of another recorded run, in order, the last ones again. For saved and staged blocks only.',
  },
)
export type PinnedReplies = Wire<typeof pinnedReplies>

export const replaySchema = Type.Object(
  {
    pinned: Type.Optional(pinnedReplies),
    state: Type.Optional(
      Type.Enum(['saved', 'deployed', 'staged'], { description: 'Blocks to run. Default: `saved`.' }),
    ),
    writes: Type.Optional(
      Type.Enum(['discard'], { description: 'Always true: its writes are undone at its end.' }),
    ),
  },
  { additionalProperties: false },
)
export const handRunSchema = Type.Object(
  {
    trigger: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: "Guid or name of the trigger's block, or the label of its runs, such as `GET tasks`.",
    }),
    state: Type.Optional(
      Type.Enum(['saved', 'deployed', 'staged'], { description: 'Blocks to run. Default: `deployed`.' }),
    ),
    effects: Type.Optional(
      Type.Enum(['discard', 'real'], {
        description:
          '`discard` (default): its writes are undone, and blocks with external effects are not executed. `real`: as if it had started by itself; deployed blocks of an active blueprint only, no endpoints and pages.',
      }),
    ),
    input: Type.Optional(
      Type.Record(Type.String({ maxLength: 200 }), anyJson(), {
        maxProperties: 1_000,
        description:
          'Function: its parameters. Schedule: `planned_at`. Storage event: `event`, `document`, `previous`. Failure: fields of the failure. Endpoint and page: `params`, `query`, `headers`, `body`, and `method` where any is taken.',
      }),
    ),
    from_run: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'A recorded run of this blueprint. Its input is used where `input` is left out. Without effects, blocks outside give its results.',
      }),
    ),
    pinned: Type.Optional(pinnedReplies),
    anonymous: Type.Optional(
      Type.Boolean({ description: 'Endpoint and page: without a signed-in user. Default: as the caller.' }),
    ),
  },
  { additionalProperties: false },
)
export type HandRunAsked = Wire<typeof handRunSchema>

export const sentAgainSchema = Type.Object({
  job: Type.String({ description: 'Guid of the job that sends it: `GET /queue/{guid}` shows how it ends.' }),
})

export type ReplayState = NonNullable<Wire<typeof replaySchema>['state']>

const undoPart = {
  in_parts: Type.Optional(
    Type.Boolean({ description: 'The newest 1,000 writes, or those before `after`, where there are more.' }),
  ),
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 10_000, description: '`next` of the part before.' }),
  ),
}
export const undoPartSchema = Type.Object(undoPart, { additionalProperties: false })

export const undoRunSchema = Type.Object(
  {
    ...undoPart,
    leave_changed: Type.Optional(
      Type.Boolean({
        description:
          'Take back the others where some documents were changed since; their jobs are not cancelled then. Default: 409.',
      }),
    ),
  },
  { additionalProperties: false },
)

const undoneJob = Type.Object({
  guid: Type.String(),
  title: Type.String(),
  queue: Type.String(),
  state: Type.Enum(['waiting', 'running', 'done', 'dead']),
})

export const undoSchema = Type.Object({
  run: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Of POST: the guid under which it stands in the history, to take it back too.',
  }),
  next: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'With `in_parts`: `after` of the next part; null behind the last one.',
  }),
  count: Type.Integer({ description: 'Number of documents that are changed.' }),
  left: Type.Integer({ description: 'Number of documents that stay as they are because of a problem.' }),
  documents: Type.Array(
    Type.Object({
      storage: Type.String(),
      document: Type.String({ description: 'Its guid.' }),
      action: Type.Enum(['remove', 'change', 'restore', 'create', 'nothing']),
      problem: nullableText,
    }),
    { description: 'The first 100, those with a problem first.' },
  ),
  jobs: Type.Array(undoneJob, { description: 'Jobs of the run that have not begun: POST cancels them.' }),
  begun: Type.Union([Type.Array(undoneJob), Type.Null()], {
    description:
      'What cannot be taken back: jobs of the run that were begun, such as mails, also those that have ended and are still listed. Null where that is not known.',
  }),
  outside: Type.Union(
    [
      Type.Array(
        Type.Object({
          block: Type.String(),
          times: Type.Integer({ description: 'How often it was executed.' }),
        }),
      ),
      Type.Null(),
    ],
    {
      description:
        'What cannot be taken back: blocks with effects outside, by guid. Null where that is not known, as the run was not recorded.',
    },
  ),
})
export type UndoneRun = Wire<typeof undoSchema>

export const compareRunsSchema = Type.Object(
  {
    state: Type.Optional(
      Type.Enum(['saved', 'staged'], {
        description: 'The blocks that are compared with the deployed ones. Default: staged.',
      }),
    ),
    runs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description: 'How many recorded runs, the newest first. Default: 50.',
      }),
    ),
    accepted: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 1_000,
        description: 'Keys of differences that are wanted: they do not count.',
      }),
    ),
    remember: Type.Optional(
      Type.Boolean({
        description:
          'Remember `accepted` until another version is deployed: these differences are not listed again.',
      }),
    ),
  },
  { additionalProperties: false },
)

const side = Type.Object({
  status: Type.Union([Type.Integer(), Type.Null()], { description: 'Null for a run without a reply.' }),
  headers: typedJson<{ readonly [name: string]: JsonValue }>('Those that matter to clients.'),
  body: anyJson('What was replied or returned, without `_meta`.'),
  error: nullableText,
})

const difference = Type.Object({
  key: Type.String({ description: 'The same for the same difference of other runs: what `accepted` takes.' }),
  run: Type.String({ description: 'Guid of the recorded run.' }),
  label: Type.String({ description: 'Readable name of the trigger, such as `GET tasks/:id`.' }),
  kind: Type.Enum(['fails', 'status', 'headers', 'shape', 'value'], {
    description: 'The worst of it. shape: a name or type of the body differs; value: values alone do.',
  }),
  paths: Type.Array(Type.String(), { description: 'Where bodies or headers differ, at most 20.' }),
  accepted: Type.Boolean(),
  deployed: side,
  candidate: side,
})

export const comparedRunsSchema = Type.Object({
  compared: Type.Integer({ description: 'Runs that were repeated on both.' }),
  same: Type.Integer(),
  differences: Type.Array(difference, { description: 'Of each key the first run, at most 100.' }),
  skipped: Type.Array(Type.Object({ run: Type.String(), label: Type.String(), reason: Type.String() }), {
    description: 'Runs that cannot be repeated, and why.',
  }),
  remembered: Type.Integer({ description: 'Differences that were accepted before, and are not listed.' }),
  left: Type.Integer({ description: 'Runs for which there was no time: a call takes at most 20 seconds.' }),
  slower: Type.Array(
    Type.Object({
      block: Type.String({ description: 'Guid.' }),
      runs: Type.Integer({ description: 'Of how many runs the times are.' }),
      deployed_us: Type.Integer({ description: 'Microseconds, the median.' }),
      candidate_us: Type.Integer(),
    }),
    {
      description:
        'Blocks that take twice as long as the deployed ones and a millisecond more, with the values that they pull, in at least five runs. They are no differences.',
    },
  ),
})
export type ComparedRuns = Static<typeof comparedRunsSchema>
