import { defineTrigger, PinError } from '../block.ts'
import { cronExpression, interval, timeZone } from './schedule-timing.ts'

const overlaps = ['skip', 'queue', 'allow'] as const
const catchUps = ['last', 'all', 'none'] as const

export default defineTrigger({
  identifier: 'schedule_repeating_event',
  title: 'Schedule',
  summary:
    'Starts the flow again and again: by a cron expression, at an interval, or at a date that is worked out anew each time. Each time that is due starts it once, on however many nodes.',
  on: 'schedule',
  in: {
    cron: {
      type: 'value',
      help: 'When, as a cron expression: minute, hour, day, month, weekday, such as 0 9 * * 1-5. A sixth field in front is seconds.',
    },
    every: { type: 'value', help: 'Or how often: an interval such as 30s, 5m, 2h or 1d.' },
    next_run: {
      type: 'date',
      help: 'Or a date: it is worked out after each time, and the flow starts again when it has come.',
    },
    start_at: { type: 'date', help: 'Not before this date. Intervals are counted from it.' },
    time_zone: {
      type: 'value',
      default: 'UTC',
      help: 'Where the clock of cron stands, such as Europe/Berlin.',
    },
    overlap: {
      type: 'value',
      default: 'skip',
      choices: overlaps,
      help: 'When the last run is not over yet: skip this time, queue it behind the other, or allow both at once.',
    },
    catch_up: {
      type: 'value',
      default: 'last',
      choices: catchUps,
      help: 'What was due while nothing ran: start once for the last time that was missed, for all of them, or for none.',
    },
  },
  out: {
    planned_at: { type: 'date', help: 'The time for which it was planned; it may run a little later.' },
    tick: { type: 'value', help: 'The same each time this run is tried again: tells repeats apart.' },
  },
  settings: {},
  evaluatedLater: ['next_run'],
  listen(inputs) {
    const { cron = '', every = '', next_run, start_at, time_zone } = inputs
    const ways = [cron.trim() !== '', every.trim() !== '', next_run !== undefined]
    if (ways.filter(Boolean).length !== 1)
      throw new PinError(
        ways[0] ? 'cron' : 'every',
        'is one of three: fill in cron, every or next_run, and only one',
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
    }
  },
  start: ({ plannedAt, tick }) => ({ planned_at: plannedAt, tick }),
})
