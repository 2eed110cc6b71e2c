import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const secretUnset = command({
  name: 'secret unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a secret.',
  about: 'Blocks that name it fail from then on.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { removeNamed } = await import('../named-records.ts')
    const { secretKind } = await import('./stored-secrets.ts')
    await withManagement(terminal, url, (management) => removeNamed(management, secretKind, name))
    return 0
  },
})
