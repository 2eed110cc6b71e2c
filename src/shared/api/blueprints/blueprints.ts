import { type Static, Type } from 'typebox'
import type { Block, BlockContent } from '../../blueprint.ts'
import { blueprintNoteSchema, MAX_NOTES } from '../../blueprint-note.ts'
import { actorSchema, metaSchema, storedRecord, typedJson } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const input = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  category: Type.Optional(Type.String({ maxLength: 100 })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
  notes: Type.Optional(
    Type.Array(blueprintNoteSchema, {
      maxItems: MAX_NOTES,
      description: 'Remarks and groups on the canvas.',
    }),
  ),
}

export const createBlueprintSchema = Type.Object(input, { additionalProperties: false })
export const updateBlueprintSchema = Type.Partial(
  Type.Object({
    ...input,
    update_hash: Type.String({
      description:
        'The `_meta.update_hash` that the blueprint must still have; else 409. If omitted, it is not checked.',
    }),
  }),
  { additionalProperties: false, minProperties: 1 },
)

const problem = Type.Object({
  block: Type.String({ description: 'Guid of the block; empty for the whole blueprint.' }),
  pin: Type.Optional(Type.String({ description: 'A pin, or a setting.' })),
  column: Type.Optional(Type.Integer({ description: "Of the pin's expression, from 1." })),
  message: Type.String(),
})
/** What keeps a blueprint from running. */
export type Problem = Wire<typeof problem>

const blueprintRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  description: Type.String(),
  category: Type.String(),
  tags: Type.Array(Type.String()),
  notes: Type.Optional(Type.Array(blueprintNoteSchema)),
  short_id: Type.String({ description: '12 letters and digits.' }),
  active: Type.Boolean({ description: 'Whether its endpoints are live.' }),
  version: Type.Integer({ description: 'Number of the live version; 0 = never deployed.' }),
  deployment_guid: Type.Union([Type.String(), Type.Null()]),
  created_by: actorSchema,
  modified_by: actorSchema,
  warnings: Type.Optional(
    Type.Array(problem, {
      description: 'Only in the reply to a deploy that succeeded; also in the system log.',
    }),
  ),
})
export type Blueprint = Wire<typeof blueprintRecord>
export const blueprintSchema = storedRecord(blueprintRecord)

export const deployActionSchema = Type.Object({
  guid: Type.String(),
  type: Type.String(),
  change: Type.Enum(['created', 'updated', 'removed']),
  before: typedJson<BlockContent | null>('The deployed block; null if it is new.'),
  after: typedJson<BlockContent | null>('The saved block; null if it is removed.'),
})
export type DeployAction = Static<typeof deployActionSchema>

export const checkBlueprintSchema = Type.Object(
  {
    state: Type.Optional(
      Type.Enum(['saved', 'staged'], {
        description: '`staged`: as if all staged changes were saved. Default: `saved`.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const checkedBlueprintSchema = Type.Object({
  problems: Type.Array(problem, { description: 'Problems that would prevent activation.' }),
  notes: Type.Array(Type.Object({ ...problem.properties, level: Type.Enum(['warn', 'info']) }), {
    description: 'Warnings, which do not prevent it.',
  }),
})
export type Checked = Wire<typeof checkedBlueprintSchema>

const versionFields = {
  number: Type.Integer({ description: 'Starts at 1; increases with each deploy that changes anything.' }),
  deployed: Type.Integer({ description: 'Unix seconds.' }),
  by: actorSchema,
}

export const versionSchema = Type.Object({
  ...versionFields,
  blocks: Type.Integer({ description: 'How many.' }),
  live: Type.Boolean({ description: 'Whether it is the deployed one.' }),
})
export type VersionSummary = Wire<typeof versionSchema>

export const versionBlocksSchema = Type.Object({
  ...versionFields,
  blocks: Type.Array(typedJson<Block>('A deployed block, by its `guid`.')),
})
export type VersionBlocks = Static<typeof versionBlocksSchema>

export const versionParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the blueprint.' }),
  number: Type.Integer({ minimum: 1 }),
})

export const explainRequestSchema = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']),
    path: Type.String({ minLength: 1, maxLength: 2048, description: 'With or without `/api/v1`.' }),
    user: Type.Optional(Type.String({ description: 'Guid of a user; omit it for an anonymous caller.' })),
  },
  { additionalProperties: false },
)

export const explanationSchema = Type.Object({
  reachable: Type.Boolean(),
  reason: Type.String({ description: 'The reason, and what to do.' }),
  blueprint: Type.Optional(Type.Object({ guid: Type.String(), name: Type.String(), active: Type.Boolean() })),
  block: Type.Optional(Type.String()),
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'Any of them grants access.' })),
})
export type Explanation = Static<typeof explanationSchema>
