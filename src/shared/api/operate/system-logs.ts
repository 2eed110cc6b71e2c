import { Type } from 'typebox'
import { anyJson } from '../any-json.ts'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

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
