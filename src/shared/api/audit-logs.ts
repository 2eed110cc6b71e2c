import { Type } from 'typebox'
import { anyJson } from './any-json.ts'
import { metaSchema } from './meta.ts'
import { storedRecord } from './stored-record.ts'

export const auditLogSchema = storedRecord(
  Type.Object({
    _meta: metaSchema,
    category: Type.String({ description: 'The resource: `users`, `blueprints`, …' }),
    action: Type.Enum(['created', 'updated', 'removed', 'restored', 'deleted']),
    guid: Type.String({ description: 'Of the record that was changed.' }),
    name: Type.String({ description: 'What the record was called then.' }),
    user: Type.Object(
      { guid: Type.String(), username: Type.String() },
      { description: '`system` with an empty guid: nobody asked for it.' },
    ),
    changes: Type.Array(Type.String(), { description: 'Fields that an update changed.' }),
    before: anyJson(
      'What the changed fields held, or the whole record; null if it was new. Secrets are left out, and large values are `{ left_out: <characters> }`.',
    ),
    after: anyJson('What they hold since; null if it is gone.'),
  }),
)
