import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const connectionList = command({
  name: 'connection list',
  operands: [],
  flags: urlFlag,
  summary: 'Lists the connections: servers that flows call by name.',
  about: 'Prints one line for each: its name, a tab, its base address, a tab and how requests are signed in.',
  async run({ values: { url } }, terminal) {
    const { allConnections } = await import('./stored-connections.ts')
    const found = await withManagement(terminal, url, allConnections)
    for (const { name, baseUrl, kind } of found) terminal.print(`${name}\t${baseUrl}\t${kind}`)
    if (found.length === 0)
      terminal.complain('There are no connections. Set one: quoin connection set <name> <file>')
    return 0
  },
})
