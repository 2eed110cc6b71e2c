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
