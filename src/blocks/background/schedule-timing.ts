/** When a schedule comes due: what the builder wrote, checked once, when the blueprint is deployed. */
import { Cron } from 'croner'
import { lruCache } from '../../shared/lru-cache.ts'
import { PinError } from '../block.ts'
import { readDuration } from '../pins/scalar-values.ts'

const MAX_CRON = 200
const FIELDS = /^(?:@\w+|(?:\S+\s+){4,5}\S+)$/
const DAY = 86_400_000
/** Rarer is a cron expression's business. */
const LONGEST_INTERVAL = 366 * DAY

/** An expression of five fields, six with seconds first, or a name such as `@daily`. Throws PinError for `cron`. */
export function cronExpression(written: string, timeZone: string): string {
  const text = written.trim()
  if (text.length > MAX_CRON) throw new PinError('cron', `must be at most ${MAX_CRON} characters`)
  if (!FIELDS.test(text))
    throw new PinError('cron', 'must have five fields such as 0 9 * * 1-5, or six with seconds first')
  let first: Date | null
  try {
    first = new Cron(text, { paused: true, timezone: timeZone }).nextRun(new Date(0))
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw new PinError('cron', `must be a cron expression such as 0 9 * * 1-5: ${why.replace(/\.$/, '')}`)
  }
  if (!first) throw new PinError('cron', 'names a time that never occurs')
  return text
}

/** `30s`, `5m`, `1d`: always with its unit. Throws PinError for `every`. */
export function interval(written: string): string {
  const text = written.trim().replace(' ', '')
  const milliseconds = readDuration(text)
  const fits =
    milliseconds !== undefined &&
    milliseconds >= 1000 &&
    milliseconds <= LONGEST_INTERVAL &&
    !/\d$/.test(text)
  if (!fits) throw new PinError('every', 'must be an interval such as 30s, 5m, 2h or 1d, of 366d at most')
  return text
}

/** Names that were accepted: a format takes 0.1 ms to make, and each schedule has a zone. More than there are in the world. */
const zones = lruCache<string, true>(1_000)

/** The name of an IANA zone, or UTC. Throws PinError for `time_zone`. */
export function timeZone(written: string): string {
  const name = written.trim()
  const problem = 'must be the name of a time zone, such as Europe/Berlin or UTC'
  // Intl also takes offsets, which know nothing of summer time.
  if (!/^[A-Za-z]/.test(name)) throw new PinError('time_zone', problem)
  if (zones.get(name)) return name
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    throw new PinError('time_zone', problem)
  }
  zones.set(name, true)
  return name
}
