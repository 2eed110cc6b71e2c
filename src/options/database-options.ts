import { CronPattern } from 'croner'
import { parseBucketUrl } from '../storage/assets/bucket-url.ts'
import {
  accepted,
  flag,
  number,
  type OptionGroup,
  postgresUrl,
  type ReadGroup,
  type ReadOne,
  text,
} from './option-kinds.ts'

function bucketProblem(input: string): string | undefined {
  try {
    if (input !== '') parseBucketUrl(input)
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
    read: (input: string) => (bucketProblem(input) === undefined ? input : undefined),
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

/** Backups that a server makes of itself, on the embedded database. */
export const backupOptions = {
  backups: {
    variable: 'QUOIN_BACKUPS',
    fallback: '',
    help: 'Folder of the backups that the studio and the schedule make, best on another disk. Empty: backups in the data folder.',
    ...text,
  },
  backupSchedule: {
    variable: 'QUOIN_BACKUP_SCHEDULE',
    fallback: '',
    help: 'When a backup is made, in QUOIN_TIME_ZONE; at most one a minute. One that was missed is made once. Empty: never.',
    changeable: true,
    ofSpace: true,
    accepts: 'empty, or a cron pattern such as 30 3 * * *',
    read: (input: string) => (input === '' ? '' : accepted(input, () => new CronPattern(input))),
  },
  backupKeep: {
    variable: 'QUOIN_BACKUP_KEEP',
    fallback: '7',
    help: 'Scheduled backups that are kept; older ones are deleted when a new one is complete.',
    changeable: true,
    ofSpace: true,
    ...number(1, 100),
  },
} as const satisfies OptionGroup

export function readBackupOptions(read: ReadOne): ReadGroup<typeof backupOptions> {
  return {
    backups: read(backupOptions.backups),
    backupSchedule: read(backupOptions.backupSchedule),
    backupKeep: read(backupOptions.backupKeep),
  }
}

/** How long records and removed documents are kept. */
export const retentionOptions = {
  keepLogs: {
    variable: 'QUOIN_KEEP_LOGS',
    fallback: '30',
    help: 'Days for which the system log and the log of users are kept. The audit log is never deleted.',
    changeable: true,
    ofSpace: true,
    ...number(1, 3650),
  },
  keepRuns: {
    variable: 'QUOIN_KEEP_RUNS',
    fallback: '24',
    help: 'Hours for which traced and failed runs are kept; of each blueprint only the last ones.',
    changeable: true,
    ofSpace: true,
    ...number(1, 720),
  },
  keepHistory: {
    variable: 'QUOIN_KEEP_HISTORY',
    fallback: '0',
    help: 'Days for which the history of documents is kept; 0 = no limit.',
    changeable: true,
    ofSpace: true,
    ...number(0, 36_500),
  },
  keepRemoved: {
    variable: 'QUOIN_KEEP_REMOVED',
    fallback: '0',
    help: 'Days after which removed documents are permanently deleted; 0 = never.',
    changeable: true,
    ofSpace: true,
    ...number(0, 36_500),
  },
} as const satisfies OptionGroup

export function readRetentionOptions(read: ReadOne): ReadGroup<typeof retentionOptions> {
  return {
    keepLogs: read(retentionOptions.keepLogs),
    keepRuns: read(retentionOptions.keepRuns),
    keepHistory: read(retentionOptions.keepHistory),
    keepRemoved: read(retentionOptions.keepRemoved),
  }
}
