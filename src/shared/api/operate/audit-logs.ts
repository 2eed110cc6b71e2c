import { Type } from 'typebox'
import { anyJson } from '../any-json.ts'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

const auditLogRecord = Type.Object({
  _meta: metaSchema,
  category: Type.String({ description: 'The resource: `users`, `blueprints`, `documents`, …' }),
  action: Type.Enum([
    'created',
    'updated',
    'removed',
    'restored',
    'deleted',
    'imported',
    'exported',
    'used',
    'run',
    'undone',
  ]),
  guid: Type.String({ description: 'Guid of the changed record; empty for imports and exports.' }),
  name: Type.String({ description: 'Name of the record at that time; for documents, their storage.' }),
  blueprint: Type.Optional(Type.String({ description: 'Guid of the blueprint of a block.' })),
  user: Type.Object(
    { guid: Type.String(), username: Type.String() },
    { description: '`system` with an empty guid if no user requested it.' },
  ),
  changes: Type.Array(Type.String(), { description: 'Fields that an update changed.' }),
  before: anyJson(
    'What the changed fields held, or the whole record; null if it was new. Secrets are left out, and large values are `{ left_out: <characters> }`.',
  ),
  after: anyJson('What they hold since; null if it is gone.'),
})
export type AuditLog = Wire<typeof auditLogRecord>
export const auditLogSchema = storedRecord(auditLogRecord)
