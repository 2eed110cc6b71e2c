import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const waitShow = command({
  name: 'wait show',
  operands: [{ name: '<wait>' }],
  flags: urlFlag,
  summary: 'Prints one run that waits as JSON.',
  about: 'The wait is named by its guid. Tokens and the values that the run remembers are not shown.',
  async run({ positionals: [guid = ''], values: { url } }, terminal) {
    const { waitNamed } = await import('./stored-waits.ts')
    const found = await withManagement(terminal, url, (management) => waitNamed(management, guid))
    terminal.print(JSON.stringify(found, undefined, 2))
    return 0
  },
})
