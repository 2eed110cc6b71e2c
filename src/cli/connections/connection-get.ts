import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const connectionGet = command({
  name: 'connection get',
  operands: [{ name: '<name>' }],
  flags: urlFlag,
  summary: 'Prints one connection as JSON, as quoin connection set reads it.',
  about: 'Secrets are named, never contained.',
  async run({ positionals: [name = ''], values: { url } }, terminal) {
    const { connectionNamed } = await import('./stored-connections.ts')
    const found = await withManagement(terminal, url, (management) => connectionNamed(management, name))
    terminal.print(JSON.stringify(found, undefined, 2))
    return 0
  },
})
