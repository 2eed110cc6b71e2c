import { plannedTimes } from '../queue/planned-times.ts'
import type { Backups } from '../records/backups/backups.ts'
import type { Clock } from '../shared/clock.ts'

export interface BackupSchedule {
  /** Begins a backup if one is due. Gives whether it did. */
  look(): Promise<boolean>
}

interface ScheduleSettings {
  /** Empty: never. */
  readonly cron: string
  readonly keep: number
  readonly timeZone: string
}

/** Due is the first planned time behind the newest scheduled backup: so several that were missed are made up for by one. */
export function backupSchedule(
  backups: Pick<Backups, 'list' | 'make' | 'running'>,
  settings: () => ScheduleSettings,
  clock: Clock,
): BackupSchedule {
  /** One that failed is tried again at its next time, not each minute. */
  let tried = 0
  return {
    async look() {
      const { cron, keep, timeZone } = settings()
      if (cron === '' || backups.running()) return false
      const [newest] = (await backups.list()).filter(({ kind }) => kind === 'schedule')
      const now = clock()
      const due = plannedTimes({ cron, timeZone })?.next(Math.max(tried, (newest?.made ?? 0) * 1000))
      if (due === undefined || due > now) return false
      tried = now
      await backups.make('schedule', keep)
      return true
    },
  }
}
