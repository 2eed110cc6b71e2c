import { MAX_ALERTS } from '../../shared/alerts/alert-figures.ts'
import type { AlertRecord } from '../../shared/api/operate/alerts.ts'
import { namedRecords } from './named-records.ts'
import { call } from './request.ts'

export const alerts = namedRecords<AlertRecord>('/_system/alerts', 'alerts', MAX_ALERTS)

/** Gives how many messages are on their way. */
export async function testAlert(guid: string): Promise<number> {
  const { jobs } = await call<{ readonly jobs: readonly string[] }>('POST', `/_system/alerts/${guid}/test`)
  return jobs.length
}
