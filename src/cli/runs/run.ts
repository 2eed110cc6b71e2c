import { isJsonObject } from '../../shared/json.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { readObject } from '../read-object.ts'
import { UsageError } from '../read-words.ts'

const states = ['deployed', 'saved', 'staged'] as const

export const run = command({
  name: 'run',
  operands: [{ name: '<blueprint>' }, { name: '<trigger>' }],
  flags: {
    input: {
      type: 'string',
      value: '<json>',
      help: `Parameters of a function; event and document of a storage event; planned_at of a schedule;
params, query, headers and body of an endpoint or a page.`,
    },
    'from-run': {
      type: 'string',
      value: '<run>',
      help: 'Guid of a recorded run whose input is used.',
    },
    state: {
      type: 'string',
      value: '<state>',
      help: 'Blocks to run: deployed (default), saved or staged.',
      completes: states,
    },
    real: {
      type: 'boolean',
      help: 'With all effects: writes, jobs, mails and requests stay. Deployed blocks only.',
    },
    url: {
      ...urlFlag.url,
      help: `The running server. Without --url: with an access token in QUOIN_TOKEN the server of this machine
(QUOIN_HOST, QUOIN_PORT), else the only server with a sign-in of quoin login.`,
    },
  },
  summary: 'Runs a trigger by hand and prints the recorded run as JSON.',
  about: `The blueprint is named by its name or guid, the trigger by the name of its block or by its label, such as "GET tasks".
Without --real the run has no effects: its writes are undone and nothing is sent. Exits with 1 if the run failed.`,
  async run({ positionals: [blueprint = '', trigger = ''], values }, terminal) {
    const { input, state = 'deployed', real, url, 'from-run': from } = values
    if (!states.some((one) => one === state))
      throw new UsageError(`--state must be one of ${states.join(', ')}.`)
    const body = {
      ...{ trigger, state, effects: real === true ? 'real' : 'discard' },
      ...(input !== undefined && { input: readObject('input', input) }),
      ...(from !== undefined && { from_run: from }),
    }
    const { runningServer } = await import('../running-server.ts')
    const server = url ?? (await runningServer(terminal))
    if (url === undefined) terminal.complain(`Server: ${server}`)
    const { findRecord } = await import('../find-record.ts')
    const { guidOf } = await import('../management.ts')
    const ended = await withManagement(terminal, server, async (management) => {
      const found = await findRecord(management, 'blueprints', blueprint)
      return management.call('POST', `/blueprints/${guidOf(found)}/run`, body)
    })
    terminal.print(JSON.stringify(ended, undefined, 2))
    return isJsonObject(ended) && ended.status === 'failed' ? 1 : 0
  },
})
