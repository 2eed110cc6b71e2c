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

const subject = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, description }))

/** Who may do one thing. Exactly one of the first four. */
export const whoMayBody = Type.Object(
  {
    endpoint: subject('Method and address of an endpoint of a blueprint: `GET /api/v1/orders/{guid}`.'),
    page: subject('Address of a page of a blueprint: `/orders`.'),
    storage: subject('Name of a storage.'),
    scope: subject('A scope, also of management: `users_update`.'),
    contains: Type.Optional(
      Type.String({ maxLength: 200, description: 'Only users with this in their name.' }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
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

const mayOfUser = (what: string) => Type.Optional(may(`Of a storage: ${what}`))

export const whoMayReply = Type.Object({
  open_to: Type.Enum(['public', 'signed_in', 'scopes', 'rules'], {
    description: '`scopes`: those who hold one of `scopes`; `rules`: whom the rules of the storage let.',
  }),
  because: Type.String(),
  scopes: Type.Array(Type.String()),
  groups: Type.Array(Type.Object({ guid: Type.String(), name: Type.String() }), {
    description: 'Active groups that give one of the scopes, at most 1,000.',
  }),
  users: Type.Array(
    Type.Object({
      guid: Type.String(),
      username: Type.String(),
      is_service: Type.Optional(Type.Boolean()),
      because: Type.String(),
      see: mayOfUser('which documents the user sees'),
      create: mayOfUser('which documents the user may create'),
      change: mayOfUser('which documents the user may change'),
      remove: mayOfUser('which documents the user may remove'),
    }),
    { description: 'By name, 50 at a time; those of `public` are not listed.' },
  ),
  total: Type.Integer({ description: 'Users in all.' }),
})
export type WhoMay = Wire<typeof whoMayReply>
