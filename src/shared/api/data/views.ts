import { Type } from 'typebox'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })
const shared = Type.Boolean({
  description: 'Shown to all who may view the storage. Default: only to its author.',
})
const address = Type.String({
  maxLength: 4_000,
  description: 'Filters, order, columns and widths, as the query of the address of the studio.',
})

export const createViewSchema = Type.Object(
  { name, shared: Type.Optional(shared), address },
  { additionalProperties: false },
)
export const updateViewSchema = Type.Partial(Type.Object({ name, shared, address }), {
  additionalProperties: false,
  minProperties: 1,
})

export const viewParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the storage.' }),
  view: Type.String({ description: 'The `_meta.guid` of the view.' }),
})

const viewRecord = Type.Object({
  _meta: metaSchema,
  storage: Type.String({ description: 'Name of the storage.' }),
  name: Type.String(),
  shared: Type.Boolean(),
  address: Type.String(),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type ViewRecord = Wire<typeof viewRecord>
export const viewSchema = storedRecord(viewRecord)
