import type { JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

export const waitContinue = command({
  name: 'wait continue',
  operands: [{ name: '<wait>' }],
  flags: {
    way: {
      type: 'string',
      value: '<way>',
      help: `On which way of its block: flow (of a time, may be left out); approved or rejected; received;
found or gone; or timeout.`,
      completes: ['flow', 'approved', 'rejected', 'received', 'found', 'gone', 'timeout'],
    },
    comment: { type: 'string', value: '<text>', help: 'Of an approval: at most 2,000 characters.' },
    body: { type: 'string', value: '<json>', help: 'With --way received: what counts as sent.' },
    current: {
      type: 'boolean',
      help: 'Of a run whose job has failed: on the deployed version, if the blocks fit.',
    },
    ...urlFlag,
  },
  summary: 'Ends a wait: its run continues as a job.',
  about: `Without a running server the job waits until one is started. A run whose job has failed continues again, with what
its wait was ended with: leave --way out.`,
  async run({ positionals: [guid = ''], values: { way, comment, body, current, url } }, terminal) {
    const sent = body === undefined ? undefined : jsonOf(body)
    const { continueWait } = await import('./stored-waits.ts')
    await withManagement(terminal, url, (management) =>
      continueWait(management, guid, { way, comment, body: sent, current: current === true }),
    )
    return 0
  },
})

function jsonOf(text: string): JsonValue {
  const read = readJson(text)
  if ('value' in read) return read.value
  throw new UsageError(`--body ${read.problem}: ${text}.`)
}
