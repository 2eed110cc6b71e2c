import { type Static, Type } from 'typebox'

export const infoSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  api: Type.Literal('v1'),
  environment: Type.Enum(['development', 'production']),
  host: Type.String({ description: 'The host that answered.' }),
  node: Type.String({ description: 'The node that answered.' }),
  nodes: Type.Integer({ description: 'How many nodes the cluster has now.' }),
  started: Type.Integer({ description: 'Unix seconds at which the node started.' }),
  flags: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: 'What the cluster is built on, such as `storage: "sqlite"`.',
  }),
})

export type Info = Static<typeof infoSchema>
