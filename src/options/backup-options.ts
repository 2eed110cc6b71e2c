import { CronPattern } from 'croner'
import { accepted, number, type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

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
    accepts: 'empty, or a cron pattern such as 30 3 * * *',
    read: (given: string) => (given === '' ? '' : accepted(given, () => new CronPattern(given))),
  },
  backupKeep: {
    variable: 'QUOIN_BACKUP_KEEP',
    fallback: '7',
    help: 'Scheduled backups that are kept; older ones are deleted when a new one is complete.',
    changeable: true,
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
