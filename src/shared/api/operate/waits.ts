import { Type } from 'typebox'
import { anyJson, metaSchema, storedRecord } from '../record-schemas.ts'
import { pageParameters } from '../search.ts'
import type { Wire } from '../wire.ts'

export const awaitedQuery = Type.Object({
  token: Type.Optional(Type.String({ description: 'As the address that the block gave has it.' })),
})

export const awaitedBody = anyJson('Any JSON. An empty body counts as an empty object.')

export const receivedSchema = Type.Object({ received: Type.Literal(true) })

const unixSeconds = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

const wait = Type.Object({
  _meta: metaSchema,
  kind: Type.Enum(['time', 'approval', 'request', 'document'], {
    description: 'A time, the approval of a person, a request of another service, or a document.',
  }),
  state: Type.Enum(['waiting', 'resumed'], {
    description: 'resumed: its job continues the run, or has failed and is tried again.',
  }),
  title: Type.String(),
  blueprint: Type.String(),
  block: Type.String({ description: 'Guid of the block at which the run waits.' }),
  deployment: Type.Integer({ description: 'Number of the deployment that the run began with.' }),
  version: Type.Enum(['same', 'current'], { description: 'On which deployment it continues.' }),
  run: Type.String({ description: 'Guid of the run that began to wait.' }),
  until: unixSeconds('When it continues by itself, in Unix seconds; null = no time limit.'),
  scopes: Type.Array(Type.String(), { description: 'Of an approval: who may decide.' }),
  ways: Type.Array(Type.String(), { description: 'Ways of its block on which the run can continue.' }),
  details: anyJson('Of an approval: title, text and fields of its page.'),
  user: Type.Union([Type.Object({ guid: Type.String(), username: Type.String() }), Type.Null()], {
    description: 'On whose behalf the run began.',
  }),
  storage: Type.String({ description: 'Of a document: the storage that it is awaited in; else empty.' }),
  job: Type.String({
    description: 'The job that continues it, or that waits for its time; empty without one.',
  }),
  error: Type.String({
    description:
      'Why its job has failed to continue the run; else empty. What the wait was ended with is kept: continue it again.',
  }),
})
export type Wait = Wire<typeof wait>

/** A run that waits. Neither what its blocks remember nor its token is shown. */
export const waitSchema = storedRecord(wait)

/** An approval that the calling user may decide. */
export const taskSchema = Type.Object({
  guid: Type.String({ description: 'Of the wait.' }),
  title: Type.String(),
  text: Type.String(),
  blueprint: Type.String({ description: 'Name of the blueprint; empty where it is not active.' }),
  created: Type.Integer({ description: 'Unix seconds.' }),
  until: unixSeconds('When it continues without a decision, in Unix seconds; null = never.'),
  page: Type.String({ description: 'Path of the page on which it is decided.' }),
})
export type Task = Wire<typeof taskSchema>

export const taskQuery = Type.Object(pageParameters(200))

export const continueWaitSchema = Type.Object(
  {
    way: Type.Optional(
      Type.Enum(['flow', 'approved', 'rejected', 'received', 'found', 'gone', 'timeout'], {
        description:
          'The way of the block on which the run continues. A time has only `flow`, which need not be named.',
      }),
    ),
    comment: Type.Optional(Type.String({ maxLength: 2_000, description: 'Of an approval.' })),
    body: Type.Optional(anyJson('What counts as sent, at the way `received`.')),
    version: Type.Optional(
      Type.Enum(['same', 'current'], {
        description:
          'Of a run whose job has failed: `current` continues it on the present version, if the blocks fit.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const moveWaitsSchema = Type.Object(
  {
    blueprint: Type.String({ maxLength: 64, description: 'Guid of the blueprint, which is active.' }),
    waits: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 1_000,
        description: 'Only these waits, by guid.',
      }),
    ),
    again: Type.Optional(
      Type.Boolean({ description: 'Runs whose job has failed continue again. Default: false.' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only says what would be done. Default: false.' })),
    after: Type.Optional(Type.String({ maxLength: 4_000, description: 'The `next` of the call before.' })),
  },
  { additionalProperties: false },
)

const unmoved = Type.Object({ wait: Type.String(), title: Type.String(), reason: Type.String() })

export const movedWaitsSchema = Type.Object({
  version: Type.Integer({ description: 'Number of the present version.' }),
  moved: Type.Integer({
    description: 'How many runs continue on it that would have continued on another one.',
  }),
  continued: Type.Integer({ description: 'How many had failed and continue again.' }),
  kept: Type.Array(unmoved, { description: 'Runs that stay on their version, and why.' }),
  next: Type.Union([Type.String(), Type.Null()], {
    description: 'One call looks at 2,000 runs: send this as `after` for the rest. Null after the last one.',
  }),
})
export type MovedWaits = Wire<typeof movedWaitsSchema>
