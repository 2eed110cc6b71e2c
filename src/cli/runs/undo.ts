import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

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
one transaction, or nothing. Of storages that keep history only. docs/tracing.md has more.`,
  async run({ positionals: [run = ''], values }, terminal) {
    return withManagement(terminal, values.url, async (management) => {
      const path = `/runs/${encodeURIComponent(run)}/undo`
      const plan = bodyOf(await management.call('GET', path))
      for (const { storage, document, action, problem } of objectsIn(plan.documents))
        terminal.print(
          `${textIn(storage)} ${textIn(document)}: ${textIn(problem) || did[textIn(action)] || textIn(action)}`,
        )
      for (const { queue, title } of objectsIn(plan.jobs))
        terminal.print(`job in ${textIn(queue)}, not begun: ${textIn(title)}`)
      for (const { block, times } of objectsIn(plan.outside))
        terminal.print(`cannot be taken back: block ${textIn(block)}, ${String(times)} times`)
      terminal.print(`${String(plan.count)} documents are taken back, ${String(plan.left)} are not.`)
      if (!values.yes) {
        terminal.complain('Nothing was changed. Take it back with --yes.')
        return 1
      }
      const body = { leave_changed: values['leave-changed'] === true }
      const { run: as } = bodyOf(await management.call('POST', path, body))
      terminal.print(`Taken back, as ${String(as)}.`)
      return 0
    })
  },
})

const bodyOf = (reply: JsonValue) => (isJsonObject(reply) ? reply : {})
