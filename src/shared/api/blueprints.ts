import { type Static, Type } from 'typebox'
import { anyJson } from './any-json.ts'
import { metaSchema } from './meta.ts'
import { storedRecord } from './stored-record.ts'

const actor = Type.Object({ guid: Type.String(), username: Type.String() })

const given = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  category: Type.Optional(Type.String({ maxLength: 100 })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
}

export const createBlueprintSchema = Type.Object(given, { additionalProperties: false })
export const updateBlueprintSchema = Type.Partial(Type.Object(given), {
  additionalProperties: false,
  minProperties: 1,
})

export const blueprintSchema = storedRecord(
  Type.Object({
    _meta: metaSchema,
    name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    tags: Type.Array(Type.String()),
    short_id: Type.String({ description: '12 letters and digits.' }),
    active: Type.Boolean({ description: 'Whether its endpoints answer.' }),
    version: Type.Integer({ description: 'Number of the deployment that answers; 0 = never deployed.' }),
    deployment_guid: Type.Union([Type.String(), Type.Null()]),
    created_by: actor,
    modified_by: actor,
  }),
)

export const deployActionSchema = Type.Object({
  guid: Type.String(),
  type: Type.String(),
  change: Type.Enum(['created', 'updated', 'removed']),
  before: anyJson('The block as it is deployed; null if it is new.'),
  after: anyJson('The block as it is saved; null if it is gone.'),
})

export const explainRequestSchema = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PUT', 'DELETE', 'HEAD']),
    path: Type.String({ minLength: 1, maxLength: 2048, description: 'With or without `/api/v1`.' }),
    user: Type.Optional(
      Type.String({ description: 'Guid of a user; without it: somebody who is not signed in.' }),
    ),
  },
  { additionalProperties: false },
)

export const explanationSchema = Type.Object({
  reachable: Type.Boolean(),
  reason: Type.String({ description: 'One sentence that says why, and what to do.' }),
  blueprint: Type.Optional(Type.Object({ guid: Type.String(), name: Type.String(), active: Type.Boolean() })),
  block: Type.Optional(Type.String()),
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'Any of them opens the endpoint.' })),
})
export type Explanation = Static<typeof explanationSchema>
