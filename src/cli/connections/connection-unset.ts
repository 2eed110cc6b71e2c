import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const connectionUnset = command({
  name: 'connection unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a connection.',
  about: 'Blocks that name it fail from then on.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { removeNamed } = await import('../named-records.ts')
    const { connectionKind } = await import('./stored-connections.ts')
    await withManagement(terminal, url, (management) => removeNamed(management, connectionKind, name))
    return 0
  },
})
