import { type FailureEvent, failureEvents, isFailureEvent } from '../../shared/failure.ts'
import { defineTrigger, PinError } from '../block.ts'
import { jobRetriesIn, jobRetryPins } from '../job-retries.ts'

const usual: readonly FailureEvent[] = ['on_run_failed', 'on_job_dead', 'on_schedule_missed']

export default defineTrigger({
  identifier: 'failure_event',
  title: 'Failure',
  summary:
    'Starts the flow when a run fails, a job becomes a dead letter or a schedule was missed. Failures of one kind start it at once and then once a minute at most, with their count. Failures that this flow causes start no flow.',
  on: 'failure',
  in: {
    events: {
      type: 'array',
      help: 'A list of on_run_failed (of a request or page), on_attempt_failed (of a job), on_job_dead and on_schedule_missed. Empty: all but on_attempt_failed.',
    },
    ...jobRetryPins,
  },
  out: {
    event: { type: 'value', help: 'The event.' },
    blueprint: { type: 'value', help: 'Guid of the blueprint whose flow failed.' },
    name: { type: 'value', help: 'Name of this blueprint.' },
    block: { type: 'value', help: 'Guid of the block that failed. Empty if it was none.' },
    pin: { type: 'value', help: 'The pin that was at fault, such as limit. Empty if it was none.' },
    trigger: { type: 'value', help: 'Guid of the trigger that started the run, or of the missed schedule.' },
    code: {
      type: 'value',
      help: 'Code of the error, such as INTERNAL or UNAVAILABLE; MISSED for a schedule.',
    },
    message: { type: 'value', help: 'What went wrong, as the system log has it. Do not show it to clients.' },
    run: { type: 'value', help: 'Guid of the last run that failed, for the system log.' },
    job: { type: 'value', help: 'Guid of the job. Empty if it was none.' },
    time: { type: 'date', help: 'When the last of these failures was.' },
    since: { type: 'date', help: 'When the first of them was; for a schedule the first planned time.' },
    count: { type: 'number', help: 'How many failures of this kind this is about: 1 or more.' },
  },
  settings: {
    watch: {
      kind: 'choice',
      options: ['blueprint', 'cluster'],
      default: 'blueprint',
      help: 'blueprint: failures of this blueprint. cluster: of all blueprints; deploying it needs the scope systemlogs_view.',
    },
  },
  deployScopes: ({ watch }) => (watch === 'cluster' ? ['systemlogs_view'] : []),
  listen: ({ events = [], ...inputs }, { watch }) => ({
    events: chosen(events),
    cluster: watch === 'cluster',
    retries: jobRetriesIn(inputs),
  }),
  start: ({ time, since, ...failure }) => ({ ...failure, time: new Date(time), since: new Date(since) }),
})

function chosen(events: readonly unknown[]): readonly FailureEvent[] {
  if (events.length === 0) return usual
  const known = events.filter(isFailureEvent)
  if (known.length < events.length)
    throw new PinError('events', `must be a list of ${failureEvents.join(', ')}`)
  return [...new Set(known)]
}
