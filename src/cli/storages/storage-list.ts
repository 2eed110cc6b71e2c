import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const storageList = command({
  name: 'storage list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the storages, and how many documents each has.',
  about: 'Prints one line for each storage: its name, a tab and the number of documents.',
  async run({ values: { url } }, terminal) {
    const { storagesWithCounts } = await import('./stored-storages.ts')
    const found = await withManagement(terminal, url, storagesWithCounts)
    for (const { name, documents } of found) terminal.print(`${name}\t${documents}`)
    if (found.length === 0) terminal.complain('There are no storages. Add one: quoin storage add <name>')
    return 0
  },
})
