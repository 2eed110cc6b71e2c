import { Cron } from 'croner'
import { lruCache } from '../../shared/lru-cache.ts'
import { defineTrigger, PinError } from '../block.ts'
import { jobRetriesIn, jobRetryPins } from '../job-retries.ts'
import { readDuration } from '../pins/scalar-values.ts'

const overlaps = ['skip', 'queue', 'allow'] as const
const catchUps = ['last', 'all', 'none'] as const

export default defineTrigger({
  identifier: 'schedule_repeating_event',
  title: 'Schedule',
  words: '[Every {every}][{cron}][Next at {next_run}]',
  summary:
    'Starts the flow repeatedly: by a cron expression, at an interval, or at a date that is calculated after each run. Each due time starts it once, on any number of nodes.',
  on: 'schedule',
  in: {
    cron: {
      type: 'value',
      help: 'Cron expression: minute, hour, day, month, weekday, such as 0 9 * * 1-5. An optional first field of six is seconds.',
    },
    every: { type: 'value', help: 'Or an interval: 30s, 5m, 2h or 1d.' },
    next_run: {
      type: 'date',
      help: 'Or a date: it is calculated after each run, and the flow starts at that date.',
    },
    start_at: { type: 'date', help: 'Earliest start. Intervals are counted from this date.' },
    time_zone: {
      type: 'value',
      default: 'UTC',
      help: 'Time zone of the cron expression, such as Europe/Berlin.',
    },
    overlap: {
      type: 'value',
      default: 'skip',
      choices: overlaps,
      help: 'When the previous run is not finished: skip this time, queue it after the other, or allow both at once.',
    },
    catch_up: {
      type: 'value',
      default: 'last',
      choices: catchUps,
      help: 'Times missed while no node ran: start once for the last of them, for all, or for none.',
    },
    ...jobRetryPins,
  },
  out: {
    planned_at: { type: 'date', help: 'The planned time; the run may start a little later.' },
    tick: { type: 'value', help: 'The same for every attempt of this run; use it to detect repeats.' },
  },
  settings: {},
  evaluatedLater: ['next_run'],
  listen(inputs) {
    const { cron = '', every = '', next_run, start_at, time_zone } = inputs
    const ways = [cron.trim() !== '', every.trim() !== '', next_run !== undefined]
    const set = ways.filter(Boolean).length
    if (set === 0) throw new PinError('cron', 'is empty: set one of cron, every and next_run')
    if (set > 1)
      throw new PinError(
        ways[0] ? 'cron' : 'every',
        'must be set alone: exactly one of cron, every and next_run',
      )
    const zone = timeZone(time_zone)
    return {
      cron: ways[0] ? cronExpression(cron, zone) : undefined,
      every: ways[1] ? interval(every) : undefined,
      asksNextRun: ways[2] === true,
      startAt: start_at,
      timeZone: zone,
      overlap: overlaps.find((one) => one === inputs.overlap) ?? 'skip',
      catchUp: catchUps.find((one) => one === inputs.catch_up) ?? 'last',
      retries: jobRetriesIn(inputs),
    }
  },
  start: ({ plannedAt, tick }) => ({ planned_at: plannedAt, tick }),
})

/** When a schedule comes due: what the builder wrote, checked once, when the blueprint is deployed. */
const MAX_CRON = 200
const FIELDS = /^(?:@\w+|(?:\S+\s+){4,5}\S+)$/
const DAY = 86_400_000
/** Rarer is a cron expression's business. */
const LONGEST_INTERVAL = 366 * DAY

/** An expression of five fields, six with seconds first, or a name such as `@daily`. Throws PinError for `cron`. */
function cronExpression(written: string, timeZone: string): string {
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
function interval(written: string): string {
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
function timeZone(written: string): string {
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
