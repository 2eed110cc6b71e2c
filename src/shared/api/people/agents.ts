import { type Static, Type } from 'typebox'

export const agentGrantSchema = Type.Object({
  guid: Type.String(),
  client: Type.String({ description: 'What the client calls itself.' }),
  client_id: Type.String({ description: 'Address of the document of the client.' }),
  scopes: Type.Array(Type.String()),
  created: Type.Integer({ description: 'Unix seconds.' }),
  last_used: Type.Integer({ description: 'Unix seconds at which it last got tokens.' }),
  expiry: Type.Integer({ description: 'Unix seconds.' }),
})
export type AgentGrant = Static<typeof agentGrantSchema>

export const agentGrantParams = Type.Object({ agent: Type.String({ maxLength: 64 }) })

export const agentOfUserParams = Type.Object({
  guid: Type.String({ description: 'The `_meta.guid` of the user.' }),
  agent: Type.String({ maxLength: 64 }),
})
