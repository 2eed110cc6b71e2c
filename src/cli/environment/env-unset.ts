import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const envUnset = command({
  name: 'env unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a value of the environment.',
  about: 'In runs that begin afterwards, env.NAME is nothing.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { removeNamed } = await import('../named-records.ts')
    const { valueKind } = await import('./stored-values.ts')
    await withManagement(terminal, url, (management) => removeNamed(management, valueKind, name))
    return 0
  },
})
