import Type, { type Static } from 'typebox'

const names = Type.Array(Type.String())
const hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of its permissions and its whole code.' })

export const extensionParams = Type.Object({
  name: Type.String({
    pattern: '^[a-z][a-z0-9]{1,29}$',
    description: 'Name of the extension, with which its blocks begin.',
  }),
})

const permissions = Type.Object(
  {
    hosts: { ...names, description: 'Hosts of connections that it may call; `*` is any.' },
    read: { ...names, description: 'Storages whose documents it may read; `*` is any.' },
    write: { ...names, description: 'Storages whose documents it may change; `*` is any.' },
  },
  { description: 'All that its code reaches.' },
)

const about = {
  version: Type.String(),
  hash: Type.String(),
  description: Type.String(),
  permissions,
}

const foundSchema = Type.Object({
  ...about,
  blocks: Type.Array(
    Type.Object({
      identifier: Type.String(),
      title: Type.String(),
      summary: Type.String(),
      effects: Type.Array(Type.Enum(['reads', 'writes', 'calls'])),
    }),
  ),
  problems: { ...names, description: 'Why it cannot be switched on.' },
})

const storedSchema = Type.Object({
  ...about,
  on: Type.Boolean(),
  blocks: { ...names, description: 'Identifiers.' },
  used_by: { ...names, description: 'Active blueprints that were deployed with this version.' },
})

export const extensionSchema = Type.Object({
  name: Type.String(),
  found: Type.Union([foundSchema, Type.Null()], { description: 'In the folder of the node that replies.' }),
  stored: Type.Array(storedSchema, {
    description: 'Versions that were switched on once; at most one of them is on.',
  }),
})
export type Extension = Static<typeof extensionSchema>

export const switchExtensionSchema = Type.Union([
  Type.Object(
    { on: Type.Literal(true), hash },
    { additionalProperties: false, description: 'The version with this hash, of the folder or stored.' },
  ),
  Type.Object({ on: Type.Literal(false) }, { additionalProperties: false }),
])

export const removedExtensionSchema = Type.Object({
  name: Type.String(),
  removed: Type.Literal(true),
  warnings: { ...names, description: 'What still has blocks of it, at most 100.' },
})
export type RemovedExtension = Static<typeof removedExtensionSchema>
