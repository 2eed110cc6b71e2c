import { Type } from 'typebox'
import type { JsonObject } from '../json.ts'
import { anyJson } from './any-json.ts'
import { metaSchema } from './meta.ts'
import { searchSchema } from './search.ts'
import { storedRecord } from './stored-record.ts'
import type { Wire } from './wire.ts'

export const documentParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the storage.' }),
  document: Type.String({ description: 'The `_meta.guid` of the document.' }),
})

/** As it is stored: `_meta` and whatever fields it has. */
const documentRecord = Type.Object({ _meta: metaSchema }, { additionalProperties: true })
export type Document = Wire<typeof documentRecord> & { readonly [field: string]: unknown }
export const documentSchema = storedRecord(documentRecord)

export const documentFieldsSchema = Type.Unsafe<JsonObject>(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'Field → value; use dots for nested fields. `_meta` is ignored.',
    },
  ),
)

export const documentSearchSchema = Type.Object(
  {
    ...searchSchema.properties,
    include_removed: Type.Optional(Type.Boolean({ description: 'Also find removed documents.' })),
  },
  { additionalProperties: false },
)

/** The body of every search; only documents have `include_removed`. */
export type DocumentSearch = Wire<typeof documentSearchSchema>

export const createDocumentQuery = Type.Object({
  expiry: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Unix seconds; the document is deleted within a minute of this time. If omitted, never.',
    }),
  ),
})

export const updateDocumentQuery = Type.Object({
  update_hash: Type.Optional(
    Type.String({ description: 'Change only if this is still the `_meta.update_hash`; else 409.' }),
  ),
})

export const removeDocumentQuery = Type.Object({
  hard: Type.Optional(
    Type.Boolean({ description: 'Delete permanently, also a removed document.', default: false }),
  ),
})

export const historyQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
  after: Type.Optional(
    Type.String({ maxLength: 10_000, description: 'The header `x-next-cursor` of the previous page.' }),
  ),
})

const historyEntryRecord = Type.Object({
  _meta: metaSchema,
  document: Type.String({ description: 'Guid of the document.' }),
  action: Type.Enum(['created', 'updated', 'removed', 'restored', 'deleted']),
  user: Type.Object(
    { guid: Type.String(), username: Type.String() },
    { description: '`system` with an empty guid if no user was signed in.' },
  ),
  run: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Guid of the run that wrote it.',
  }),
  revisions: Type.Array(
    Type.Object({
      key: Type.String({ description: 'Dotted name of the field.' }),
      type: Type.String({ description: '`set.field`, `remove.field`, `array.add` or `array.remove`.' }),
      value: anyJson('Since then; null if the field is gone. Large values are `{ left_out: <characters> }`.'),
      previous_value: anyJson('Before.'),
    }),
  ),
})
export type HistoryEntry = Wire<typeof historyEntryRecord>
export type Revision = HistoryEntry['revisions'][number]
export const historySchema = storedRecord(historyEntryRecord)

export const importedSchema = Type.Object({
  imported: Type.Integer({ description: 'Number of created documents.' }),
})

/** As many documents as a blueprint file may bring for one storage. */
export const MAX_SAMPLES = 2_000

export const samplesSchema = Type.Object(
  {
    storage: Type.String({ description: 'Name of the storage.', minLength: 1, maxLength: 63 }),
    documents: Type.Array(documentFieldsSchema, { maxItems: MAX_SAMPLES }),
  },
  { additionalProperties: false },
)

export const NDJSON = 'application/x-ndjson'

/** The map of types keeps the errors of an export JSON. */
export const exportResponse = {
  description: 'One document per line.',
  content: { [NDJSON]: { schema: Type.Unsafe<unknown>({ type: 'string' }) } },
}
