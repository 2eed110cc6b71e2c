import { andThen } from '../../shared/maybe-promise.ts'
import { queueNameProblem } from '../../storage/job.ts'
import { defineFlow, PinError } from '../block.ts'
import { jobRetriesIn, jobRetryPins } from '../job-retries.ts'
import { functionName } from '../names.ts'
import { namedValue, pinsNamed } from '../pins/named-values.ts'
import { readDuration } from '../pins/scalar-values.ts'

/** A year in milliseconds, the longest delay. */
const LONGEST_DELAY = 366 * 86_400_000
const MAX_KEY = 300

export default defineFlow({
  identifier: 'function_custom_execute_from_queue',
  title: 'Run a custom function later',
  words: 'Call {function}[ in {delay}] from the queue',
  summary:
    'Puts a custom function into a queue and continues at once. The job commits together with the earlier writes of the flow: both or neither. What the function writes in one transaction is stored once, also after a crash. A function that calls another server may call it twice; its out-pin job is the same for both runs.',
  effects: { sends: ['job'] },
  in: {
    function: { type: 'function', required: true, help: 'The name of the function.' },
    queue: { type: 'value', default: 'default', help: 'Name of the queue: a–z, 0–9, _ and -.' },
    delay: {
      type: 'value',
      help: 'Minimum delay: seconds, or 30s, 5m, 2h, 1d. Empty: no delay.',
    },
    priority: {
      type: 'number',
      default: 0,
      integer: true,
      min: -1000,
      max: 1000,
      help: 'Jobs with a higher priority run first in their queue.',
    },
    ...jobRetryPins,
    dedupe_key: {
      type: 'value',
      help: 'While a job of this function with the same key waits or runs, no second one is enqueued.',
    },
  },
  out: {
    job: { type: 'value', help: 'The guid of the job. Empty when a job with the same dedupe_key exists.' },
  },
  settings: { parameters: { kind: 'names', help: 'Parameters to pass: each becomes a pin.' } },
  moreIn: ({ parameters }) => pinsNamed(parameters, (name) => `The parameter ${name}.`),
  run(inputs, context) {
    const name = functionName('function', inputs.function)
    const parameters = context.settings.parameters.map((id) => [id, namedValue(context, id)] as const)
    const key = dedupeKey(inputs.dedupe_key)
    const job = context.enqueue({
      function: name,
      parameters: Object.fromEntries(parameters),
      queue: queueName(inputs.queue),
      delay: delayOf(inputs.delay),
      priority: inputs.priority,
      backOff: jobRetriesIn(inputs)?.backOff,
      attempts: inputs.attempts,
      ...(key !== undefined && { dedupeKey: key }),
    })
    return andThen(job, (guid) => ({ job: guid }))
  },
})

function queueName(written: string): string {
  const name = written.trim()
  const problem = queueNameProblem(name)
  if (problem) throw new PinError('queue', problem)
  if (name.startsWith('_'))
    throw new PinError('queue', 'starts with _, which is reserved for internal queues')
  return name
}

function delayOf(written = ''): number {
  if (written.trim() === '') return 0
  const delay = readDuration(written)
  if (delay === undefined || delay > LONGEST_DELAY)
    throw new PinError('delay', 'must be seconds or 30s, 5m, 2h, 1d, and at most 366d')
  return delay
}

function dedupeKey(written = ''): string | undefined {
  const key = written.trim()
  if (key.length > MAX_KEY) throw new PinError('dedupe_key', `must be at most ${MAX_KEY} characters`)
  return key === '' ? undefined : key
}
