import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const waitMove = command({
  name: 'wait move',
  operands: [{ name: '<blueprint>' }],
  flags: {
    again: { type: 'boolean', help: 'Runs whose job has failed continue again.' },
    'dry-run': { type: 'boolean', help: 'Only says what would be done.' },
    ...urlFlag,
  },
  summary: 'Moves the runs of a blueprint that wait to its deployed version.',
  about: `A run that waits continues on the version that it began with. It is moved where the deployed version has its block and
the run has stored what the blocks behind the wait read. Prints how many, and a line for each run that stays: its guid,
a tab, and the reason.`,
  async run({ positionals: [blueprint = ''], values: { again, 'dry-run': dryRun, url } }, terminal) {
    const { moveWaits } = await import('./stored-waits.ts')
    const { moved, continued, kept } = await withManagement(terminal, url, (management) =>
      moveWaits(management, blueprint, { again: again === true, dry_run: dryRun === true }),
    )
    terminal.print(`${moved} moved, ${continued} continue again, ${kept.length} stay.`)
    for (const line of kept) terminal.print(line)
    return 0
  },
})
