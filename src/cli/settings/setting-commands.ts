import { textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { type Management, recordsOf } from '../management.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const settingList = command({
  name: 'setting list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the options of a server that change without a restart.',
  about: `Prints one line for each: its name, a tab, its value, a tab and where the value comes from: environment, setting or
default. The environment overrides a setting.`,
  async run({ values: { url } }, terminal) {
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
    await withManagement(terminal, url, (management) => management.call('DELETE', pathOf(name)))
    return 0
  },
})

interface ListedSetting {
  readonly name: string
  readonly value: string
  readonly source: string
}

function pathOf(name: string): string {
  return `/_system/settings/${encodeURIComponent(name)}`
}

/** In the order of `quoin start --help`. */
async function changeableSettings(management: Management): Promise<ListedSetting[]> {
  const all = recordsOf(await management.call('GET', '/_system/settings'))
  return all
    .filter(({ changeable }) => changeable === true)
    .map(({ name, value, source }) => ({ name: textIn(name), value: textIn(value), source: textIn(source) }))
}
