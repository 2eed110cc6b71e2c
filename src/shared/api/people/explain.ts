import { Type } from 'typebox'
import type { Wire } from '../wire.ts'

export const explainBody = Type.Object(
  {
    contains: Type.Optional(
      Type.String({ maxLength: 200, description: 'Only what has this in its method, address or name.' }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
  },
  { additionalProperties: false },
)

const may = (what: string) =>
  Type.String({ description: `${what}: \`all\`, \`none\`, or \`where\` and the condition of the rule.` })

export const explainReply = Type.Object({
  user: Type.Object({ guid: Type.String(), username: Type.String(), is_active: Type.Boolean() }),
  groups: Type.Array(Type.Object({ guid: Type.String(), name: Type.String(), is_active: Type.Boolean() })),
  scopes: Type.Array(
    Type.Object({
      scope: Type.String(),
      from: Type.Array(Type.String(), { description: '`the user itself`, or names of groups.' }),
      meaning: Type.Optional(Type.String({ description: 'What it allows that its name does not say.' })),
    }),
  ),
  management: Type.Array(Type.String(), { description: 'Scopes of management that the user holds.' }),
  endpoints: Type.Array(
    Type.Object({
      kind: Type.Enum(['endpoint', 'page']),
      method: Type.String(),
      uri: Type.String(),
      blueprint: Type.Object({ guid: Type.String(), name: Type.String() }),
      scopes: Type.Array(Type.String(), { description: 'Any of them opens it; without any it is public.' }),
      allowed: Type.Boolean(),
      because: Type.String(),
    }),
  ),
  storages: Type.Array(
    Type.Object({
      name: Type.String(),
      see: may('Which documents the user sees'),
      create: may('Which documents the user may create'),
      change: may('Which documents the user may change'),
      remove: may('Which documents the user may remove'),
      because: Type.String(),
    }),
  ),
  total: Type.Object({ endpoints: Type.Integer(), storages: Type.Integer() }),
})
export type ExplainedUser = Wire<typeof explainReply>
