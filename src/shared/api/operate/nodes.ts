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

const whole = (description: string) => Type.Integer({ description })
const known = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

export const databaseSchema = Type.Object(
  {
    engine: Type.String({ description: '`sqlite` or `postgres`.' }),
    size_bytes: whole('Size of the data, without the log.'),
    log_bytes: known('Size of the write-ahead log; null where the database user may not see it.'),
    commits: whole(
      'Committed transactions: on SQLite since the process started, on PostgreSQL since its statistics began.',
    ),
    cache_hits: whole('Reads that needed no disk: results of searches on SQLite, pages on PostgreSQL.'),
    cache_misses: whole('Reads that were not in this cache.'),
    connections: Type.Union(
      [
        Type.Object({
          busy: Type.Integer(),
          idle: Type.Integer(),
          waiting: whole('Work that waits for a connection.'),
          most: whole('`QUOIN_POOL`.'),
        }),
        Type.Null(),
      ],
      { description: 'Connections of the node that replies; null on SQLite.' },
    ),
  },
  { description: 'The database at this moment.' },
)

export type DatabaseRecord = Static<typeof databaseSchema>

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
