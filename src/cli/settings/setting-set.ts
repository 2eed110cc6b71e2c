import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const settingSet = command({
  name: 'setting set',
  operands: [{ name: '<name>' }, { name: '<value>' }],
  flags: urlFlag,
  summary: 'Sets an option of a server that changes without a restart, such as QUOIN_RATE_LIMIT.',
  about: `Every node has applied it when the command ends. Refused where the environment sets the option, which overrides a
setting, and for options that need a restart. quoin setting list names the others.`,
  async run({ positionals: [name = '', value = ''], values: { url } }, terminal) {
    const { pathOf } = await import('./stored-settings.ts')
    await withManagement(terminal, url, (management) => management.call('PUT', pathOf(name), { value }))
    return 0
  },
})
