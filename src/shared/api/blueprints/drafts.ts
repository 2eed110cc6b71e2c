import { Type } from 'typebox'
import { APPLICATION_NAME } from '../../application/application.ts'
import { actorSchema } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

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

export const wholeDraftSchema = Type.Object({
  ...draftSchema.properties,
  files: Type.Record(Type.String(), Type.String(), {
    description: 'Every file of the application as the draft has it, by path.',
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

export const pushDraftSchema = Type.Object(
  {
    state: Type.String({
      description: 'Of the plan that is pushed: 409 where the cluster was changed since.',
    }),
    allow_loss: Type.Optional(
      Type.Boolean({ description: 'Also where documents or memberships of groups are lost.' }),
    ),
  },
  closed,
)

export const removedDraftSchema = Type.Object({ removed: Type.Literal(true) })
