import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const envList = command({
  name: 'env list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the values of the environment, which expressions read as env.NAME.',
  about: 'Prints one line for each value: its name, a tab and the value as JSON.',
  async run({ values: { url } }, terminal) {
    const { allValues } = await import('./stored-values.ts')
    const found = await withManagement(terminal, url, allValues)
    for (const { name, value } of found) terminal.print(`${name}\t${JSON.stringify(value)}`)
    if (found.length === 0)
      terminal.complain('The environment holds no values. Set one: quoin env set <name> <value>')
    return 0
  },
})
