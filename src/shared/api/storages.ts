import { Type } from 'typebox'
import { actorSchema } from './actor.ts'
import { metaSchema } from './meta.ts'
import { storedRecord } from './stored-record.ts'
import type { Wire } from './wire.ts'

const description = Type.Optional(Type.String({ maxLength: 10_000 }))
const history = Type.Optional(
  Type.Boolean({
    description: 'Record the changes of every later write of a document. Default: off.',
  }),
)

const closed = Type.Optional(
  Type.Boolean({
    description:
      'Documents have only the fields of the storage: a write of another one is refused. Stored documents are not changed. Default: false.',
  }),
)

export const createStorageSchema = Type.Object(
  {
    name: Type.String({
      description: '1 to 63 of a–z, 0–9, _ and -, starting with a letter. It cannot be changed.',
    }),
    description,
    history,
    closed,
  },
  { additionalProperties: false },
)

export const updateStorageSchema = Type.Object(
  { description, history, closed },
  { additionalProperties: false, minProperties: 1 },
)

const storageRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  description: Type.String(),
  history: Type.Boolean(),
  closed: Type.Boolean(),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type StorageRecord = Wire<typeof storageRecord>
export const storageSchema = storedRecord(storageRecord)
