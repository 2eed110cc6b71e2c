import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { command, type Terminal } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { readObject } from '../read-blueprint-file.ts'
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
    const { runningServer } = await import('../open-management.ts')
    const server = url ?? (await runningServer(terminal))
    if (url === undefined) terminal.complain(`Server: ${server}`)
    const { findRecord } = await import('../management.ts')
    const { guidOf } = await import('../management.ts')
    const ended = await withManagement(terminal, server, async (management) => {
      const found = await findRecord(management, 'blueprints', blueprint)
      return management.call('POST', `/blueprints/${guidOf(found)}/run`, body)
    })
    terminal.print(JSON.stringify(ended, undefined, 2))
    return isJsonObject(ended) && ended.status === 'failed' ? 1 : 0
  },
})

const did: Readonly<Record<string, string>> = {
  remove: 'remove',
  change: 'set back',
  restore: 'restore',
  create: 'create again',
  nothing: 'as before the run',
}

export const undo = command({
  name: 'undo',
  operands: [{ name: '<run>' }],
  flags: {
    yes: { type: 'boolean', help: 'Take it back. Without it the command only says what would happen.' },
    'leave-changed': { type: 'boolean', help: 'Leave out documents that were changed since.' },
    ...urlFlag,
  },
  summary: 'Takes back what a run wrote.',
  about: `<run> is the guid of a run as the history of documents has it, or of a job that changed many documents. What the run created
is removed, what it changed is as it was, what it removed is there again, and its jobs that have not begun are cancelled: in
one transaction, or nothing; of a run with over 1,000 writes, in a transaction for each 1,000, the newest first.
Of storages that keep history only. docs/tracing.md has more.`,
  async run({ positionals: [run = ''], values }, terminal) {
    return withManagement(terminal, values.url, async (management) => {
      const path = `/runs/${encodeURIComponent(run)}/undo`
      let [parts, count, left] = [0, 0, 0]
      for (let next = ''; parts === 0 || next !== ''; parts++) {
        const after = next === '' ? '' : `&after=${encodeURIComponent(next)}`
        const plan = bodyOf(await management.call('GET', `${path}?in_parts=true${after}`))
        if (parts === 0) printPlan(plan, terminal)
        count += numberIn(plan.count)
        left += numberIn(plan.left)
        next = textIn(plan.next)
      }
      const how = parts > 1 ? `, in ${parts} transactions` : ''
      terminal.print(`${count} documents are taken back, ${left} are not${how}.`)
      const leaves = values['leave-changed'] === true
      if (!values.yes || (parts > 1 && left > 0 && !leaves)) {
        const leave = left > 0 && !leaves ? ' and leave the others with --leave-changed' : ''
        terminal.complain(`Nothing was changed. Take it back with --yes${leave}.`)
        return 1
      }
      for (let next = ''; ; ) {
        const part = { in_parts: true, ...(next !== '' && { after: next }) }
        const done = bodyOf(await management.call('POST', path, { leave_changed: leaves, ...part }))
        terminal.print(`Taken back, as ${String(done.run)}.`)
        next = textIn(done.next)
        if (next === '') return 0
      }
    })
  },
})

/** Of many writes only the newest. */
function printPlan(plan: JsonObject, terminal: Terminal): void {
  for (const { storage, document, action, problem } of objectsIn(plan.documents))
    terminal.print(
      `${textIn(storage)} ${textIn(document)}: ${textIn(problem) || did[textIn(action)] || textIn(action)}`,
    )
  for (const { queue, title } of objectsIn(plan.jobs))
    terminal.print(`job in ${textIn(queue)}, not begun: ${textIn(title)}`)
  for (const { queue, title, state } of objectsIn(plan.begun))
    terminal.print(`cannot be taken back: job in ${textIn(queue)}, ${textIn(state)}: ${textIn(title)}`)
  for (const { block, times } of objectsIn(plan.outside))
    terminal.print(`cannot be taken back: block ${textIn(block)}, ${String(times)} times`)
  if (plan.begun === null) terminal.print('not known, as there are too many: jobs of the run that were begun')
  if (plan.outside === null)
    terminal.print('not known, as the run was not recorded: mails, calls and what else it did outside')
}

const bodyOf = (reply: JsonValue) => (isJsonObject(reply) ? reply : {})
