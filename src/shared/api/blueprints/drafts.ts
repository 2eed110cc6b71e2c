import { Type } from 'typebox'
import { APPLICATION_NAME } from '../../application/application.ts'
import { actorSchema, anyJson } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'
import { pushRequestSchema } from './applications.ts'

const path = Type.String({
  pattern: '^[A-Za-z0-9_.-]{1,120}(?:/[A-Za-z0-9_.-]{1,120})?$',
  description: 'As in the folder of the application: `blueprints/deals.json`.',
})
const closed = { additionalProperties: false }

export const editDraftSchema = Type.Object(
  {
    application: Type.String({
      pattern: APPLICATION_NAME,
      description: 'Name of the application, also of a new one.',
    }),
    changes: Type.Array(
      Type.Union([
        Type.Object({ path, text: Type.String({ description: 'The whole file.' }) }, closed),
        Type.Object({ path, remove: Type.Literal(true) }, closed),
        Type.Object(
          {
            path,
            old: Type.String({ minLength: 1, description: 'Text that is in the file exactly once.' }),
            new: Type.String({ description: 'What replaces it.' }),
          },
          closed,
        ),
      ]),
      { minItems: 1, maxItems: 200, description: 'In this order; all of them or none.' },
    ),
  },
  closed,
)

export const draftSchema = Type.Object({
  guid: Type.String(),
  application: Type.String(),
  author: actorSchema,
  agent: Type.String({
    description: 'Name of the API key whose agent made it; empty for a draft of a person.',
  }),
  paths: Type.Array(Type.String(), { description: 'Files that differ from the cluster.' }),
  updated: Type.Integer({ description: 'Unix seconds of the last change.' }),
})

export type Draft = Wire<typeof draftSchema>

export const blueprintDraftSchema = Type.Object({
  ...draftSchema.properties,
  blocks: Type.Array(Type.String(), {
    description:
      'Guids of blocks of the blueprint, with all that is staged, that the draft changes or removes.',
  }),
  created: Type.Integer({ description: 'Blocks that it adds.' }),
})

export type BlueprintDraft = Wire<typeof blueprintDraftSchema>

export const wholeDraftSchema = Type.Object({
  ...draftSchema.properties,
  files: Type.Record(Type.String(), Type.String(), {
    description:
      'Every file of the application as the draft has it, by path, but for those that the caller may not see.',
  }),
  live: Type.Record(Type.String(), Type.String(), {
    description: 'By path: the changed files as the cluster has them, without those that are new.',
  }),
  changes: Type.Array(Type.String(), {
    description: 'Against the cluster: `changed blueprints/deals.json: block reply changed`.',
  }),
  conflicts: Type.Array(Type.String(), {
    description: 'Files that the cluster has changed since the draft did. Send their whole text again.',
  }),
  problems: Type.Array(
    Type.Object({
      file: Type.String(),
      line: Type.Integer(),
      column: Type.Integer(),
      block: Type.Optional(Type.String()),
      pin: Type.Optional(Type.String()),
      message: Type.String(),
      warning: Type.Optional(
        Type.Literal(true, { description: 'It does not keep the application from running.' }),
      ),
    }),
  ),
})

export type WholeDraft = Wire<typeof wholeDraftSchema>

export const tryDraftSchema = Type.Object(
  {
    given: Type.Optional(
      Type.Record(Type.String(), anyJson(), {
        description: 'What there is before the first step, as in a test: `users`, `documents`, `replies` …',
      }),
    ),
    steps: Type.Array(Type.Record(Type.String(), anyJson()), {
      minItems: 1,
      maxItems: 20,
      description:
        'As in a test: `{ "request": "POST /tasks", "as", "body" }`, `{ "tick": "each_morning" }` …',
    }),
  },
  closed,
)

export const pushDraftSchema = Type.Object(
  {
    state: Type.String({
      description: 'Of the plan that is pushed: 409 where the cluster or the draft was changed since.',
    }),
    allow_loss: pushRequestSchema.properties.allow_loss,
    move_waits: pushRequestSchema.properties.move_waits,
    verify: pushRequestSchema.properties.verify,
  },
  closed,
)

export const removedDraftSchema = Type.Object({ removed: Type.Literal(true) })

export const assistantSchema = Type.Object({
  on: Type.Boolean({ description: 'Whether the caller may describe what is needed.' }),
  model: Type.String({ description: 'As its server calls it; empty where it is off.' }),
})

export type Assistant = Wire<typeof assistantSchema>

export const describeSchema = Type.Object(
  {
    application: Type.String({
      pattern: APPLICATION_NAME,
      description: 'Name of the application that is drafted, also of a new one.',
    }),
    text: Type.String({ minLength: 1, maxLength: 10_000, description: 'What is needed, in plain words.' }),
    history: Type.Optional(
      Type.Array(
        Type.Object(
          {
            role: Type.Enum(['user', 'assistant']),
            content: Type.String({ minLength: 1, maxLength: 10_000 }),
          },
          closed,
        ),
        { maxItems: 20, description: 'What was said before, the oldest first.' },
      ),
    ),
  },
  closed,
)

/** What a line of the reply is: what the model says, a tool that it has used, and at last the end. */
export type DescribeLine =
  | { readonly says: string }
  | { readonly tool: string; readonly about: string; readonly refused: boolean }
  | { readonly end: DescribeEnd }

export interface DescribeEnd {
  /** Why it ended early; empty where the model was done. */
  readonly problem: string
  readonly rounds: number
  readonly tokens: number
  readonly cost: number
  /** null where nothing is staged. */
  readonly draft: {
    readonly guid: string
    /** Against the cluster, as lines. */
    readonly changes: readonly string[]
    readonly problems: readonly string[]
    readonly conflicts: readonly string[]
  } | null
}

export const describeResponse = {
  description:
    'One JSON object a line: `says` (a text of the model), `tool` with `about` and `refused`, and at last `end` with `problem`, `rounds`, `tokens`, `cost` and `draft` (`guid`, `changes`, `problems`, `conflicts`).',
  content: { 'application/x-ndjson': { schema: Type.Unsafe<unknown>({ type: 'string' }) } },
}
