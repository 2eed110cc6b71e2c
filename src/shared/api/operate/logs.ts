import { Type } from 'typebox'
import { anyJson, metaSchema, storedRecord } from '../record-schemas.ts'
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

const chainStep = Type.Union([
  Type.Object(
    { part: Type.Literal('chain'), place: Type.Integer({ minimum: 1 }) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      part: Type.Literal('log'),
      cursor: Type.String({ maxLength: 2_000 }),
      older: Type.Integer({ minimum: 0 }),
    },
    { additionalProperties: false },
  ),
])

export const auditCheckBody = Type.Object(
  { from: Type.Optional(chainStep) },
  {
    additionalProperties: false,
    description: 'Without `from`, the first step; else `next` of the step before.',
  },
)

export const auditCheckSchema = Type.Object({
  checked: Type.Integer({ description: 'Records that this step held against their entries.' }),
  faults: Type.Array(
    Type.Object({
      fault: Type.Enum(['changed', 'removed', 'added', 'broken', 'forged'], {
        description:
          '`changed`, `removed` and `added` are about a record; `broken`: entries of the chain are gone or do not follow; `forged`: a checkpoint or its signature is gone, or the signature does not hold.',
      }),
      record: Type.String({ description: 'Guid of the record; empty where the chain itself is at fault.' }),
      place: Type.Integer({ description: 'In the chain; 0 for a record without an entry.' }),
      message: Type.String(),
    }),
    { description: 'At most 100 of each step.' },
  ),
  signed: Type.Integer({ description: 'Ends of days whose signature holds.' }),
  unsigned: Type.Integer({ description: 'Ends of days before the first key.' }),
  next: Type.Union([chainStep, Type.Null()], { description: 'Where the check goes on; null at its end.' }),
})

export const auditExportResponse = {
  description:
    'One line for each record in the order of the chain, with its entry; then the signed ends of days.',
  content: { 'application/x-ndjson': { schema: Type.Unsafe<unknown>({ type: 'string' }) } },
}

const systemLogRecord = Type.Object({
  _meta: metaSchema,
  level: Type.Enum(['debug', 'info', 'warn', 'error']),
  message: Type.String(),
  value: Type.Optional(anyJson('The logged value, if it is JSON of at most 8 KiB.')),
  run: Type.Optional(Type.String({ description: 'Guid of the run.' })),
  blueprint: Type.Optional(Type.String()),
  block: Type.Optional(Type.String()),
  pin: Type.Optional(Type.String()),
})
export type SystemLog = Wire<typeof systemLogRecord>
export const systemLogSchema = storedRecord(systemLogRecord)
