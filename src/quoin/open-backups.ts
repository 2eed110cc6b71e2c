import { join } from 'node:path'
import { type Backups, openBackups } from '../records/backups/backups.ts'
import type { SystemLog } from '../records/system-log.ts'
import { backupSchedule } from './backup-schedule.ts'
import { holdDirectory } from './database-engine.ts'
import type { SetStart } from './open-settings.ts'

const MINUTE = 60_000

/** Backups of the embedded database, by hand and by the schedule; undefined where PostgreSQL keeps the data. */
export async function openNodeBackups(
  { options, set, clock, version, offline, opened }: SetStart,
  log: Pick<SystemLog, 'write'>,
): Promise<Backups | undefined> {
  if (options.databaseUrl !== '' || offline) return undefined
  const backups = await openBackups({
    data: options.data,
    folder: options.backups === '' ? join(options.data, 'backups') : options.backups,
    version,
    clock,
    lock: holdDirectory,
    failed: (message) => log.write({ level: 'error', message }),
  })
  opened.add(() => backups.close())
  const settings = () => {
    const { backupSchedule: cron, backupKeep: keep, timeZone } = set.present()
    return { cron, keep, timeZone }
  }
  const schedule = backupSchedule(backups, settings, clock)
  const failed = (error: unknown) =>
    log.write({ level: 'error', message: `A scheduled backup could not begin: ${String(error)}` })
  const timer = setInterval(() => void schedule.look().catch(failed), MINUTE).unref()
  opened.add(async () => clearInterval(timer))
  return backups
}
