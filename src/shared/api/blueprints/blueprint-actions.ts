import { type Static, Type } from 'typebox'
import { BlockContent, blockContent } from '../../blueprint.ts'
import type { JsonObject } from '../../json.ts'
import { type Actor, actorSchema, metaSchema, storedRecord, typedJson } from '../record-schemas.ts'

const { type, ...optional } = blockContent

export const createBlockSchema = Type.Object(
  {
    type,
    blueprint_guid: Type.String({ maxLength: 64 }),
    ...Type.Partial(Type.Object(optional)).properties,
    configuration: Type.Optional(
      Type.Unsafe<JsonObject>({
        type: 'object',
        maxProperties: 1000,
        description: 'Alternative to `fields` and values of `in_pins`: name of the setting or pin → value.',
      }),
    ),
    staged: Type.Optional(
      Type.Boolean({
        description: 'Only stage it: it counts from POST /blueprintactions/unsaved/{guid} on.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const updateBlockSchema = Type.Partial(Type.Object(blockContent), {
  additionalProperties: false,
  minProperties: 1,
})

export const editsSchema = Type.Object(
  {
    edits: Type.Array(
      Type.Object(
        {
          guid: Type.String({
            maxLength: 64,
            description: 'Guid of a block of the blueprint; for a new block, a new UUIDv7.',
          }),
          update_hash: Type.Union([Type.String(), Type.Null()], {
            description:
              'The `_meta.update_hash` that the block must still have; null if it must not exist yet.',
          }),
          content: Type.Union([Type.Object(blockContent, { additionalProperties: false }), Type.Null()], {
            description: 'New content; null removes the block.',
          }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 2000 },
    ),
  },
  { additionalProperties: false },
)
export type BlockEdit = Static<typeof editsSchema>['edits'][number]

/** What is staged of a block, by whom and when (Unix seconds). */
export type Unsaved = Partial<BlockContent> & {
  readonly change: 'created' | 'updated' | 'removed'
  readonly by: Actor
  readonly at: number
}

const blockRecord = Type.Object({
  _meta: metaSchema,
  ...BlockContent.properties,
  blueprint_guid: Type.String(),
  out_pins: Type.Array(Type.Object({ id: Type.String(), type: Type.String() })),
  storages: Type.Array(Type.String(), { description: 'Storages named in its settings and on its pins.' }),
  is_created: Type.Boolean({ description: 'False while the block exists only as staged.' }),
  modified_by: actorSchema,
  unsaved: typedJson<Unsaved | null>(
    'What is staged: `{ change, by, at, … }` with the staged content, or null.',
  ),
})
export type BlockRecord = Static<typeof blockRecord>
export const blockSchema = storedRecord(blockRecord)
