import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { aboutOwner, ownerOperand } from './owner-operand.ts'

export const keyRemove = command({
  name: 'key remove',
  operands: [ownerOperand, { name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes an API key.',
  about: `Programs with this key are refused at once. ${aboutOwner}`,
  async run({ positionals: [owner = '', name = ''], values: { url } }, terminal) {
    const { removeKey } = await import('./stored-keys.ts')
    await withManagement(terminal, url, (management) => removeKey(management, owner, name))
    return 0
  },
})
