import { command } from './command.ts'
import { urlFlag, withManagement } from './open-management.ts'

export const exportBlueprintFile = command({
  name: 'export',
  operands: [{ name: '<blueprint>' }, { name: '<file>', optional: true, completes: 'file' }],
  flags: urlFlag,
  summary: 'Writes a blueprint to a file, or to the standard output.',
  about: `<blueprint> is a name or a guid. The file contains the saved blocks, without staged changes, with names of blocks and in
a fixed order, so that a diff shows only what changed; and the fields, page templates and groups that they need. A file
of that name is replaced.`,
  async run({ positionals: [blueprint = '', file], values }, terminal) {
    const { runExport } = await import('./run-export.ts')
    return withManagement(terminal, values.url, (management) =>
      runExport(management, blueprint, file, terminal),
    )
  },
})
