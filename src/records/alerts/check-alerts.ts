/**
 * Measures what the rules ask for, and tells where one fires or is over. The new state and the jobs that tell of it are one
 * transaction, on the condition that the rule is as it was read: of two nodes that check at once, one tells.
 */
import { type AlertFigure, alertFigures, MAX_ALERTS } from '../../shared/alerts/alert-figures.ts'
import type { Clock } from '../../shared/clock.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { readFigures } from '../figures/read-figures.ts'
import { getRecord } from '../records.ts'
import { type AlertEvent, alertJobs } from './alert-job.ts'

interface AlertParts {
  readonly database: Database
  readonly clock: Clock
  /** MiB that are free where this node keeps its data. */
  readonly diskFree: () => Promise<number>
}

/** Gives the figure of this moment; null where nothing is known of it. */
type Measure = (figure: AlertFigure, minutes: number) => Promise<number | null>

/** Of fewer requests a share says little: one failed request at night would wake people. */
const LEAST_REQUESTS = 20

/** Each figure is read once, however many rules ask for it. */
function openMeasures({ database, clock, diskFree }: AlertParts): Measure {
  const minutesRead = once(async () => {
    // The minute that has just begun is not stored yet.
    const until = Math.floor(clock() / 1000) - 60
    return (await readFigures(database, { range: 'hour', until })).points
  })
  const queues = once(async () => database.capabilities.queues.list())
  const free = once(diskFree)
  return async (figure, minutes) => {
    switch (figure) {
      case 'error_share': {
        const points = (await minutesRead()).slice(-minutes)
        const requests = points.reduce((sum, point) => sum + point.requests, 0)
        const failed = points.reduce((sum, point) => sum + point.failed, 0)
        if (requests < LEAST_REQUESTS) return failed === 0 ? 0 : null
        return (100 * failed) / requests
      }
      case 'dead_letters':
        return (await queues()).reduce((sum, { dead }) => sum + dead, 0)
      case 'queue_age': {
        const since = Math.min(...(await queues()).map(({ oldest }) => oldest ?? clock()), clock())
        return Math.floor((clock() - since) / 1000)
      }
      case 'disk_free':
        return free()
    }
  }
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () => {
    known ??= read()
    return known
  }
}

export interface AlertLimit {
  readonly figure: AlertFigure
  readonly threshold: number
}

/** How far back it must be to be over: a figure that moves around its threshold fires once, and not each minute. */
const BACK = 0.8

/** Whether the alert fires after this value; null: nothing is known, so it stays as it is. */
export function firesAfter(
  { figure, threshold }: AlertLimit,
  value: number | null,
  firing: boolean,
): boolean {
  if (value === null) return firing
  if (figure === 'disk_free') return firing ? value <= threshold / BACK : value <= threshold
  // A threshold of 0 would fire on nothing: what is not there is never too much.
  if (value === 0) return false
  return firing ? value > threshold * BACK : value >= threshold
}

interface Rule {
  readonly guid: string
  readonly name: string
  readonly figure: AlertFigure
  readonly threshold: number
  readonly minutes: number
  readonly mail: readonly string[]
  readonly webhook: string
  readonly firing: boolean
  readonly hash: string
}

export async function checkAlerts(parts: AlertParts): Promise<void> {
  const { database, clock } = parts
  const found = await findAll(database.session(), systemStorages.alerts, matchAll, MAX_ALERTS)
  const rules = found.filter(({ active }) => active === true).map(ruleOf)
  if (rules.length === 0) return
  const measure = openMeasures(parts)
  for (const rule of rules) await checkRule(database, rule, measure, Math.floor(clock() / 1000))
}

/** Tells as an alert would, and leaves the rule as it is. Gives the jobs. */
export function testAlert(
  { database, clock }: Pick<AlertParts, 'database' | 'clock'>,
  guid: string,
): Promise<string[]> {
  return transact(database, async (session) => {
    const rule = ruleOf(await getRecord(session, systemStorages.alerts, guid, 'alert'))
    return tell(session, rule, { what: 'test', value: null, at: Math.floor(clock() / 1000) })
  })
}

async function checkRule(database: Database, rule: Rule, measure: Measure, at: number): Promise<void> {
  const value = await measure(rule.figure, rule.minutes)
  const firing = firesAfter(rule, value, rule.firing)
  if (firing === rule.firing) return
  await transact(database, async (session) => {
    const changes = setFields({ firing, since: at, value })
    const written = await session.update(systemStorages.alerts, rule.guid, changes, { updateHash: rule.hash })
    // Another node was faster, or a person has changed the rule.
    if (written.outcome !== 'written') return
    await tell(session, rule, { what: firing ? 'fired' : 'over', value, at })
  })
}

async function tell(
  session: Session,
  rule: Rule,
  news: Pick<AlertEvent, 'what' | 'value' | 'at'>,
): Promise<string[]> {
  const { guid, name, figure, threshold } = rule
  const guids: string[] = []
  for (const job of alertJobs({ ...news, rule: guid, name, figure, threshold }, rule)) {
    const made = await session.enqueue(job)
    if (made !== undefined) guids.push(made)
  }
  return guids
}

function ruleOf(record: JsonObject): Rule {
  const { _meta: meta, mail, minutes, threshold } = record
  const hash = typeof meta === 'object' && meta !== null && 'update_hash' in meta ? meta.update_hash : ''
  return {
    guid: guidOf(record),
    name: textIn(record.name),
    figure: alertFigures.find((one) => one === record.figure) ?? 'error_share',
    threshold: typeof threshold === 'number' ? threshold : 0,
    minutes: typeof minutes === 'number' ? minutes : 5,
    mail: Array.isArray(mail) ? mail.map(textIn) : [],
    webhook: textIn(record.webhook),
    firing: record.firing === true,
    hash: textIn(hash),
  }
}
