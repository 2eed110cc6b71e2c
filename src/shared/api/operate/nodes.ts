import { type Static, Type } from 'typebox'

export const nodeSchema = Type.Object(
  {
    guid: Type.String(),
    name: Type.String(),
    version: Type.String({ description: 'Of Quoin.' }),
    started: Type.Integer({ description: 'Unix seconds.' }),
    seen: Type.Integer({ description: 'Last contact with the database: Unix seconds.' }),
    load: Type.Number({
      description: 'Share of the last second in which its event loop was busy, 0 to 1.',
    }),
    live: Type.Boolean({ description: 'False for a node that stopped less than an hour ago.' }),
    self: Type.Boolean({ description: 'Whether it is the node that replies.' }),
  },
  { description: 'One running Quoin process.' },
)

export type NodeRecord = Static<typeof nodeSchema>
