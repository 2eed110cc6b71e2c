import { parseBucketUrl } from '../storage/assets/bucket-url.ts'
import {
  flag,
  number,
  type OptionGroup,
  postgresUrl,
  type ReadGroup,
  type ReadOne,
  text,
} from './option-kinds.ts'

function bucketProblem(given: string): string | undefined {
  try {
    if (given !== '') parseBucketUrl(given)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be used'
  }
}

/** Where data is kept. */
export const databaseOptions = {
  data: { variable: 'QUOIN_DATA', fallback: './data', help: 'Folder of the embedded database.', ...text },
  databaseUrl: {
    variable: 'DATABASE_URL',
    fallback: '',
    help: 'PostgreSQL 15 to 18, for any number of nodes. Empty: the embedded database.',
    ...postgresUrl,
  },
  listenUrl: {
    variable: 'QUOIN_LISTEN_URL',
    fallback: '',
    help: 'Direct address of the same database, past a pooler such as PgBouncer, for messages between nodes. Empty: DATABASE_URL.',
    ...postgresUrl,
  },
  pool: {
    variable: 'QUOIN_POOL',
    fallback: '10',
    help: 'Maximum connections of a node to PostgreSQL, besides one for messages and one for its lease.',
    ...number(2, 1000),
  },
  assetsUrl: {
    variable: 'QUOIN_ASSETS_URL',
    fallback: '',
    help: 'Bucket for uploaded files, required for uploads with PostgreSQL. Credentials come from AWS_ACCESS_KEY_ID and the other AWS variables. Empty: the data folder.',
    accepts: 'empty, or s3://bucket/prefix?endpoint=…&region=…',
    secret: true,
    read: (given: string) => (bucketProblem(given) === undefined ? given : undefined),
    problem: bucketProblem,
  },
  acceptLoss: {
    variable: 'QUOIN_ACCEPT_LOSS',
    fallback: '0',
    help: 'Start although a file of the embedded database is damaged and recent writes may be lost. Set it for one start, after copying the folder.',
    ...flag,
  },
  entity: {
    variable: 'QUOIN_ENTITY',
    fallback: '1',
    help: 'Cluster number, in every record.',
    ...number(1, 2_147_483_647),
  },
} as const satisfies OptionGroup

export function readDatabaseOptions(read: ReadOne): ReadGroup<typeof databaseOptions> {
  return {
    data: read(databaseOptions.data),
    databaseUrl: read(databaseOptions.databaseUrl),
    listenUrl: read(databaseOptions.listenUrl),
    pool: read(databaseOptions.pool),
    assetsUrl: read(databaseOptions.assetsUrl),
    acceptLoss: read(databaseOptions.acceptLoss),
    entity: read(databaseOptions.entity),
  }
}
