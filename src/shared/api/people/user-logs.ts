import { Type } from 'typebox'
import type { Actor } from '../actor.ts'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

const userLogRecord = Type.Object({
  _meta: metaSchema,
  event: Type.Enum(['sign_in', 'sign_in_failed', 'sign_out', 'request', 'lost'], {
    description: '`lost`: `count` requests could not be recorded in time.',
  }),
  user: Type.Unsafe<Actor | null>({
    type: ['object', 'null'],
    description: 'Null if no user has this name.',
    properties: { guid: { type: 'string' }, username: { type: 'string' } },
  }),
  ip: Type.Optional(Type.String()),
  agent: Type.Optional(Type.String({ description: 'The header `user-agent`.' })),
  method: Type.Optional(Type.String()),
  path: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'Path without the query. A list if several were requested within 0.2 s.',
    }),
  ),
  status: Type.Optional(Type.Integer()),
  milliseconds: Type.Optional(Type.Number({ description: 'Duration; of several requests the longest.' })),
  times: Type.Optional(
    Type.Integer({
      description: 'Number of requests with this user, method, status and address within 0.2 s.',
    }),
  ),
  count: Type.Optional(Type.Integer()),
  studio: Type.Optional(
    Type.Boolean({ description: 'Sent by the studio itself: it says so in a header, `x-quoin-studio`.' }),
  ),
})
export type UserLog = Wire<typeof userLogRecord>
export const userLogSchema = storedRecord(userLogRecord)
