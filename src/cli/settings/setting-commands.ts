import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const settingList = command({
  name: 'setting list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the options of a server that change without a restart.',
  about: `Prints one line for each: its name, a tab, its value, a tab and where the value comes from: environment, setting or
default. The environment overrides a setting.`,
  async run({ values: { url } }, terminal) {
    const { changeableSettings } = await import('./stored-settings.ts')
    for (const { name, value, source } of await withManagement(terminal, url, changeableSettings))
      terminal.print(`${name}\t${value}\t${source}`)
    return 0
  },
})

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
