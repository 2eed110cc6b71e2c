import { Type } from 'typebox'
import { metaSchema } from '../meta.ts'
import { storedRecord } from '../stored-record.ts'
import type { Wire } from '../wire.ts'

const sessionRecord = Type.Object({
  _meta: metaSchema,
  created: Type.Integer({ description: 'Unix seconds at which the user signed in.' }),
  last_used: Type.Integer({ description: 'Unix seconds, to the hour.' }),
  expiry: Type.Integer({ description: 'Unix seconds at which the session ends unless it is used.' }),
  ip: Type.String({ description: 'The address that signed in.' }),
  agent: Type.String({ description: 'The header `user-agent` of the sign-in.' }),
  current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
})
export type UserSession = Wire<typeof sessionRecord>
export const sessionSchema = storedRecord(sessionRecord)

export const endedSchema = Type.Object({ ended: Type.Integer({ description: 'How many sessions ended.' }) })

/** `{session}` beside `{guid}` in a path. */
export const sessionParams = Type.Object({
  session: Type.String({ description: 'The `_meta.guid` of the session.' }),
})
export const sessionOfUserParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the user.' }),
  session: Type.String({ description: 'The `_meta.guid` of the session.' }),
})
