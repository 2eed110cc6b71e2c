/**
 * Telling of an alert, as jobs: a mail, and a call of a webhook. They are enqueued in the transaction that changes whether the
 * rule fires, so each change is told once, and retried like every job. The address and the secret of a webhook are read when
 * it is called: they are in no job.
 */
import type { AlertFigure } from '../../shared/alerts/alert-figures.ts'
import type { JsonObject } from '../../shared/json.ts'
import { mailAddress } from '../../shared/mail/mail.ts'
import { alertQueue, type NewJob } from '../../storage/job.ts'
import { mailJob } from '../mail/mail-job.ts'

/** No builder can give a function this name: see `mail-job.ts`. */
const FUNCTION = '(send alert)'
/** With the back-off of the queue: some hours. Who is told of an alert of yesterday does not need it. */
const ATTEMPTS = 10

export interface AlertEvent {
  readonly what: 'fired' | 'over' | 'test'
  readonly rule: string
  readonly name: string
  readonly figure: AlertFigure
  readonly threshold: number
  readonly value: number | null
  /** Unix seconds. */
  readonly at: number
}

interface ReportedAlert {
  readonly mail: readonly string[]
  readonly webhook: string
}

export function alertJobs(news: AlertEvent, { mail, webhook }: ReportedAlert): NewJob[] {
  const jobs: NewJob[] = []
  const to = mail.flatMap((one) => mailAddress(one) ?? [])
  const title = sentence(news)
  if (to.length > 0)
    jobs.push(
      mailJob(
        { to, cc: [], bcc: [], subject: title, text: `${title}.\n\n${explained(news)}\n`, attachments: [] },
        { depth: 0 },
      ),
    )
  if (webhook !== '') {
    const payload: JsonObject = { function: FUNCTION, alert: { ...news } }
    jobs.push({ queue: alertQueue, kind: 'function', title, payload, attempts: ATTEMPTS })
  }
  return jobs
}

export function isAlertJob({ payload }: { readonly payload: JsonObject }): boolean {
  return payload.function === FUNCTION
}

const figureWords: Readonly<Record<AlertFigure, (value: number) => string>> = {
  error_share: (value) => `${Number(value.toFixed(2))} % of the requests failed`,
  dead_letters: (value) => `${value} dead letters`,
  queue_age: (value) => `a due job has waited for ${value} s`,
  disk_free: (value) => `${value} MiB of disk are free`,
}

function sentence({ what, name, figure, value }: AlertEvent): string {
  const said = value === null ? '' : `: ${figureWords[figure](value)}`
  if (what === 'test') return `Test of the alert ${name}`
  return what === 'fired' ? `Alert ${name}${said}` : `Over: alert ${name}${said}`
}

function explained({ what, figure, threshold, at }: AlertEvent): string {
  const time = new Date(at * 1000).toISOString()
  if (what === 'test') return `Sent at ${time}. The cluster is able to tell of this alert by mail.`
  const limit = `The limit is: ${figureWords[figure](threshold)}.`
  return `${limit}\nMeasured at ${time}. ${what === 'fired' ? 'Another mail follows when it is over.' : ''}`.trimEnd()
}
