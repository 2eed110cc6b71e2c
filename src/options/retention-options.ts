import { number, type OptionGroup, type ReadGroup, type ReadOne } from './option-kinds.ts'

/** How long records and removed documents are kept. */
export const retentionOptions = {
  keepLogs: {
    variable: 'QUOIN_KEEP_LOGS',
    fallback: '30',
    help: 'Days for which the system log and the log of users are kept. The audit log is never deleted.',
    changeable: true,
    ...number(1, 3650),
  },
  keepRuns: {
    variable: 'QUOIN_KEEP_RUNS',
    fallback: '24',
    help: 'Hours for which traced and failed runs are kept; of each blueprint only the last ones.',
    changeable: true,
    ...number(1, 720),
  },
  keepHistory: {
    variable: 'QUOIN_KEEP_HISTORY',
    fallback: '0',
    help: 'Days for which the history of documents is kept; 0 = no limit.',
    changeable: true,
    ...number(0, 36_500),
  },
  keepRemoved: {
    variable: 'QUOIN_KEEP_REMOVED',
    fallback: '0',
    help: 'Days after which removed documents are permanently deleted; 0 = never.',
    changeable: true,
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
