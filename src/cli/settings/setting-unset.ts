import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const settingUnset = command({
  name: 'setting unset',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Removes a setting: the option has its default again.',
  about: 'Every node has applied it when the command ends.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { pathOf } = await import('./stored-settings.ts')
    await withManagement(terminal, url, (management) => management.call('DELETE', pathOf(name)))
    return 0
  },
})
