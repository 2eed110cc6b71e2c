import { statfs } from 'node:fs/promises'
import { checkAlerts } from '../records/alerts/check-alerts.ts'
import { repeatedLook } from '../records/repeated-look.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Database } from '../storage/database.ts'
import { leads } from '../storage/leading-node.ts'
import type { Start } from './start.ts'

const MINUTE = 60_000
/** Behind the full minute: by then the nodes have stored its figures. */
const BEHIND = 5_000

/** Checks the alerts each minute, on one node of the cluster. */
export function openNodeAlerts(
  { options, clock, opened }: Start,
  database: Database,
  log: Pick<SystemLog, 'write'>,
): void {
  const diskFree = async () => {
    const { bavail, bsize } = await statfs(options.data)
    return Math.floor((bavail * bsize) / 1024 / 1024)
  }
  const check = async () => {
    try {
      if (!(await leads(database.capabilities))) return
      await checkAlerts({ database, clock, diskFree })
    } catch (error) {
      log.write({ level: 'error', message: `The alerts could not be checked: ${String(error)}` })
    }
  }
  const checks = repeatedLook(() => MINUTE - ((clock() - BEHIND) % MINUTE), check)
  opened.add(() => checks.close())
}
