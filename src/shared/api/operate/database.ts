import { type Static, Type } from 'typebox'

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
