import { defineTrigger, PinError } from '../block.ts'
import { jobRetriesIn, jobRetryPins } from '../job-retries.ts'
import { cronExpression, interval, timeZone } from './schedule-timing.ts'

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
    if (ways.filter(Boolean).length !== 1)
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
