import { Type } from 'typebox'
import type { Wire } from './wire.ts'

/** The envelope of every record; see `shared/meta.ts`. */
export const metaSchema = Type.Object({
  guid: Type.String({ description: 'Never changes; sorts by creation.' }),
  entity: Type.Integer({ description: 'Cluster number.' }),
  created: Type.Integer({ description: 'Unix seconds.' }),
  updated: Type.Integer({ description: 'Unix seconds.' }),
  cms: Type.Integer({ description: 'Created, in milliseconds.' }),
  ums: Type.Integer({ description: 'Updated, in milliseconds.' }),
  removed: Type.Integer({ description: 'Unix seconds of the soft delete; 0 = present.' }),
  expiry: Type.Integer({ description: 'Unix seconds at which it is purged; -1 = never.' }),
  update_hash: Type.String({ description: 'Changes with each modification.' }),
})
export type Meta = Wire<typeof metaSchema>

/** `{guid}` in a path. Any text: what is no guid is simply not found. */
export const guidParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the record.' }),
})
