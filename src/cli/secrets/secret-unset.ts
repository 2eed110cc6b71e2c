import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const secretUnset = command({
  name: 'secret unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a secret.',
  about: 'Blocks that name it fail from then on.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { unsetSecret } = await import('./stored-secrets.ts')
    await withManagement(terminal, url, (management) => unsetSecret(management, name))
    return 0
  },
})
