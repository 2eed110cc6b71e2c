import { type Static, Type } from 'typebox'

export const infoSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  api: Type.Literal('v1'),
  environment: Type.Enum(['development', 'production']),
  host: Type.String({ description: 'Host that replied.' }),
  node: Type.String({ description: 'Node that replied.' }),
  nodes: Type.Integer({ description: 'Number of live nodes.' }),
  started: Type.Integer({ description: 'Unix seconds at which the node started.' }),
  flags: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: 'Features of the cluster, such as `storage: "sqlite"`.',
  }),
})

export type Info = Static<typeof infoSchema>
