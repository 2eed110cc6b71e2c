import { Type } from 'typebox'
import { anyJson } from './any-json.ts'
import { metaSchema } from './meta.ts'
import { storedRecord } from './stored-record.ts'
import type { Wire } from './wire.ts'

const auditLogRecord = Type.Object({
  _meta: metaSchema,
  category: Type.String({ description: 'The resource: `users`, `blueprints`, `documents`, …' }),
  action: Type.Enum(['created', 'updated', 'removed', 'restored', 'deleted', 'imported', 'exported']),
  guid: Type.String({ description: 'Of the record that was changed; of an import or export: empty.' }),
  name: Type.String({ description: 'What the record was called then; of documents: their storage.' }),
  user: Type.Object(
    { guid: Type.String(), username: Type.String() },
    { description: '`system` with an empty guid: nobody asked for it.' },
  ),
  changes: Type.Array(Type.String(), { description: 'Fields that an update changed.' }),
  before: anyJson(
    'What the changed fields held, or the whole record; null if it was new. Secrets are left out, and large values are `{ left_out: <characters> }`.',
  ),
  after: anyJson('What they hold since; null if it is gone.'),
})
export type AuditLog = Wire<typeof auditLogRecord>
export const auditLogSchema = storedRecord(auditLogRecord)
